"""Conversion of graphs of other libraries and of plain Python objects: one module per kind."""
