"""What a query gave: rows, or what is wrong with it, in words."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from lakehold.directory.platform import Platform
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.lake.errors import StoppedError
from lakehold.runs import queries
from lakehold.web.lakehouse import charts, grids, saying
from lakehold.web.lakehouse.charts import Chart, Series
from lakehold.web.lakehouse.grids import Grid

MOST_ROWS = 500
"""As many as somebody looks through; all of them are in the download."""
_PLACE = re.compile(r"line (\d+), at character (\d+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """How a query went."""

    sql: str
    took: str = ""
    grid: Grid | None = None
    complete: bool = True
    stopped: bool = False
    error: LakeholdError | None = None
    series: tuple[Series, ...] = ()
    chart: Chart | None = None

    @property
    def line(self) -> tuple[int, int] | None:
        """Where the mistake is: line and character, from one."""
        found = _PLACE.search(str(self.error)) if self.error else None
        return (int(found[1]), int(found[2])) if found else None

    @property
    def columns(self) -> list[tuple[str, str]]:
        """What can stand below the drawing."""
        return [(str(n), each.name) for n, each in enumerate(self.series)]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """What can be drawn."""
        return [(str(n), each.name) for n, each in enumerate(self.series) if each.is_number]

    @property
    def packed(self) -> str:
        """What a chart is drawn of, for its form."""
        return charts.packed(self.series)


def answered(platform: Platform, place: queries.QueryScope, sql: str, uid: str) -> Answer:
    """Ask, and wait for it."""
    began = time.perf_counter()
    try:
        with queries.run_query(platform, place, sql, uid=uid, rows=MOST_ROWS) as found:
            grid = grids.grid(found.batches.schema, found.batches)
            complete = found.complete
    except StoppedError:
        return Answer(sql, _took(began), stopped=True)
    except LakeholdError as error:
        return Answer(sql, _took(began), error=error)
    series = charts.series(grid)
    chart = charts.chart(series) if series else None
    return Answer(sql, _took(began), grid, complete, series=tuple(series), chart=chart)


def _took(began: float) -> str:
    return saying.duration(int((time.perf_counter() - began) * SECOND))
