"""Plain, slow definitions that the fast code is checked against, and strategies for graphs."""
