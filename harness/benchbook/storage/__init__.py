"""Where systems keep their files: one driver module a storage, behind the protocol in ``driver.py``."""
