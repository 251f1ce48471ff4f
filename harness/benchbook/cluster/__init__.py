"""Several machines: the server on one Dask worker, the load clients on others, one trial at a time."""
