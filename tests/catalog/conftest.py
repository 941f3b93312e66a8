"""Every test of the catalog is about Corner & Main."""

from tests.demo_company import corner, corner_file, corner_template

__all__ = ["corner", "corner_file", "corner_template"]
