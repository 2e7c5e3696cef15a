"""What every kernel does the same way."""
