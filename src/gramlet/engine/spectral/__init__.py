"""Node coordinates from eigenvectors, and assignments between them."""
