"""The arithmetic: arrays in, arrays out. Numba is used only here."""
