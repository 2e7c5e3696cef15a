"""Kernels made of kernels: weighted sums and products."""
