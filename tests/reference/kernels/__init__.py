"""The kernels, written from their formulas with plain loops."""
