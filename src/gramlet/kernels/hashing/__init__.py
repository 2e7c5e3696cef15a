"""Kernels on sums and hashes of neighbourhoods: Hadamard codes, neighbourhood hashes."""
