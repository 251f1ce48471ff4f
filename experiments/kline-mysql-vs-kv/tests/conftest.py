"""The doubles of drivers that the harness's own tests use."""

from tests.systems.conftest import place

__all__ = ["place"]
