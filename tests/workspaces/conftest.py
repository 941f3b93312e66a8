"""Corner & Main for the tests of the workspaces."""

from __future__ import annotations

from tests.demo_company import corner, corner_databases, corner_file

__all__ = ["corner", "corner_databases", "corner_file"]
