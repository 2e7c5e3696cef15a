"""Rounds of sums and of hashes over neighbours."""
