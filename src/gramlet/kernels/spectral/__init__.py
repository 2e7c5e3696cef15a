"""Kernels on spectral node coordinates."""
