"""The TU format: text files for adjacency, membership, labels and attributes."""
