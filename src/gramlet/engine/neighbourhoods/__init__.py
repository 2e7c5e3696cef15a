"""Patterns around nodes: pairs of balls, trees of descents, small induced subgraphs."""
