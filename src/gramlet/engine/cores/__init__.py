"""Cores of graphs."""
