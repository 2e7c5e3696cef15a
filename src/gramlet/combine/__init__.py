"""Tools for every kernel: Gram matrices by name, feature maps, Gaussian processes."""
