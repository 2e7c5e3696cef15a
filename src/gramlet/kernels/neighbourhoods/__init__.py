"""Kernels on the surroundings of nodes: pairs of balls, descent trees, small subgraphs."""
