"""Scores of predictions, and tests of whether scores differ."""
