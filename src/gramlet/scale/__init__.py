"""Beyond memory and beyond one machine: Gram matrices on disk, feature stores, Dask."""
