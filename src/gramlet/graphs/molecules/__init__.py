"""Molecules as graphs of atoms and bonds, with RDKit."""
