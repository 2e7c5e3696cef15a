"""What a set of graphs is, and every door graphs come in by."""
