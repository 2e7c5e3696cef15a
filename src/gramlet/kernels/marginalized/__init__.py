"""Marginalised kernels on labels and attributes of nodes and edges."""
