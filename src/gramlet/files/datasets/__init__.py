"""Data sets by name: embedded, downloaded from the TU collection, or generated."""
