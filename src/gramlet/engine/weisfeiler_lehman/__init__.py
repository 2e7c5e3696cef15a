"""Colour refinement."""
