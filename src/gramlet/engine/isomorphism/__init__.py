"""Whether two graphs are the same up to the numbering of their nodes."""
