"""Kernels and embeddings compared with other packages."""
