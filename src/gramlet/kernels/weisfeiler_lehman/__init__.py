"""Weisfeiler-Lehman kernels."""
