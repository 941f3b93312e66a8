"""The rows of tables that were deleted long ago go too."""

from __future__ import annotations

from lakehold.directory.platform import Platform
from lakehold.lake.spark import maintenance
from lakehold.lake.spark.tables import Tables
from lakehold.workspaces.lakehouse import dropping


def purge(platform: Platform, tables: Tables) -> int:
    """Drop them, with all their files; how many tables that were. Nobody writes what nobody knows of."""
    found = dropping.gone(platform)
    for place in found:
        tables.drop(place)
        maintenance.sweep(tables, place)
    return len(found)
