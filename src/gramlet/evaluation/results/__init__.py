"""Results as data: assembled, hinted at, written as JSON and as tables."""
