"""Path sums over vectors and strings, the engine of `gramlet.paths`."""
