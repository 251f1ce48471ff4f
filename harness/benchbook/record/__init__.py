"""Record: trial folders on disk are the truth; DuckDB is filled from them and may be rebuilt."""
