"""Systems under test: one driver module a family, behind the protocols in ``driver.py``."""
