"""Weights of patterns, learned from pairs of graphs."""
