"""Results: folders of runs and trials, and the DuckDB file that is built from them."""
