"""What several commands do in between: machines, evaluations, models from files."""
