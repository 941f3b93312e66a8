"""Corner & Main for the tests of the workspaces."""

from __future__ import annotations

from tests.corner import corner, corner_file, corner_template

__all__ = ["corner", "corner_file", "corner_template"]
