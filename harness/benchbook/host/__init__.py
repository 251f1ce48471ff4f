"""The machine a run is made on: its facts, what of it is controlled, and where our own code comes from."""
