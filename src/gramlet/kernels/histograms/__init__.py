"""Kernels on label histograms, and the general R-convolution."""
