"""The arithmetic: arrays in, arrays out. Numba lives only here."""
