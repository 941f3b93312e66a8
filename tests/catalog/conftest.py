"""Every test of the catalog is about Corner & Main."""

from tests.demo_company import corner, corner_databases, corner_file

__all__ = ["corner", "corner_databases", "corner_file"]
