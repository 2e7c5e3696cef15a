"""Gram matrices on disk: tiles, where they are stored, and who computes them."""
