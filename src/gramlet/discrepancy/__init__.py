"""Distances between sets of graphs: mean kernel, MMD and the two-sample test."""
