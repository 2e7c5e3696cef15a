"""Shortest paths of all graphs of a batch."""
