"""Path sums over vectors and strings, used by `gramlet.paths`."""
