"""Code that all packages use: array types, checks, random numbers, safe writing."""
