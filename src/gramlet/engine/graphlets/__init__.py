"""Graphlets: patterns, exact counts, sampling."""
