"""The rows of a table, as the person whom the run is for sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.pipeline import names
from lakehold.runs.runnable import Doing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(doing: Doing, uid: str) -> DataFrame:
    """All of them. A table is read by nobody but through the guard."""
    with doing.house.read(doing.caller) as work:
        table = names.sql(work, uid)
    found, _ = doing.asked("", f"SELECT * FROM {table}")  # noqa: S608 - quoted
    return found
