"""The protocol of an evaluation: target, groups and folds."""
