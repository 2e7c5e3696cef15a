"""Marginalised kernels: simultaneous random walks on two graphs, summed by linear systems."""
