"""The published site: results that are committed, the pages made from them, and what stands on each."""
