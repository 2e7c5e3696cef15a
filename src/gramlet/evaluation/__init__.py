"""Honest evaluation: protocols, nested selection, results as data."""
