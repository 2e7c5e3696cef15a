"""Patterns around nodes: pairs of balls, descent trees, small induced subgraphs."""
