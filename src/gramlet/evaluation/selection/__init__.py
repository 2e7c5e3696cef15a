"""What is evaluated, and the choice of its options."""
