"""Marginalised kernels: random walks on two graphs at once, summed by linear systems."""
