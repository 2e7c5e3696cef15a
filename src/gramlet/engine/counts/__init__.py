"""Sparse counts and two measures that compare them."""
