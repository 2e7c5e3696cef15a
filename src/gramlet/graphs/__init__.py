"""The batch of graphs that all kernels take, and the conversion of other graphs into it."""
