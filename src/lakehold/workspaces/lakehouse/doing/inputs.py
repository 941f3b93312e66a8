"""The rows of a table, as the person whom the run is for sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.lake import readable_tables
from lakehold.runs.runnable import StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(doing: StepContext, uid: str) -> DataFrame:
    """All of them. A table is read by nobody but through the guard."""
    with doing.platform.read(doing.caller) as ctx:
        table = readable_tables.qualified_name(ctx, uid)
    found, _ = doing.asked("", f"SELECT * FROM {table}")  # noqa: S608 - quoted
    return found
