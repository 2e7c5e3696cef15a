"""Sparse counts and the two ways to compare them."""
