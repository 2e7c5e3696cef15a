"""Small things that every room uses: array types, checks, random numbers, safe writing."""
