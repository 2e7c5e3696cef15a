"""Kernel machines on precomputed Gram matrices."""
