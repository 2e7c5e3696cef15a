"""Wasserstein Weisfeiler-Lehman kernels."""
