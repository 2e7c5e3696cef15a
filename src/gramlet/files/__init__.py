"""The doors for files and data sets."""
