"""Kernels that count what is around nodes: pairs of balls, trees of descents, small subgraphs."""
