"""Pages of live pulls. The rows of a pull are stored once, so that all of its pages are of the same moment.

A page needs the same rights as the first one did, and the same query: a report, a column or a right that is gone ends
the pull. What is stored is deleted when nobody has read it for an hour.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.directory.platform import Platform
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import stored_results, worker_client
from lakehold.runs.stored_results import StoredResult
from lakehold.workspaces.marts import live
from lakehold.workspaces.marts.live import LiveAccess, ReportPull

_CURSOR = re.compile(r"([0-9a-f]{32})-([0-9]{1,9})")
_MAX_STORED = 5
"""The pulls of a destination that can be continued at once."""


@dataclass(frozen=True, slots=True)
class PullPage:
    """A page of a pull that is allowed now."""

    pull: ReportPull
    result: StoredResult
    start: int
    limit: int

    @property
    def next_cursor(self) -> str:
        """The cursor of the page after this one."""
        return f"{self.result.file.stem}-{self.start + self.limit}"

    def record_read(self, platform: Platform, rows: int) -> None:
        """Record that so many rows of the page were read."""
        what, tables = self.pull.purpose, self.result.about["tables"]
        platform.record_read(
            self.pull.caller, what.action, what.resource, tables=tables, reason="", **what.details, rows=rows
        )


def open_page(
    platform: Platform, access: LiveAccess, lake: IcebergCatalog, report: str, *, cursor: str, limit: int
) -> PullPage:
    """Return a page of the rows of a report: the first one without a cursor, else that of the cursor."""
    limit = min(limit, platform.settings.query_rows)
    if cursor:
        result, start = _continue_pull(platform, cursor)
        pull = live.begin_pull(platform, access, lake, report, at=int(result.about["at"]))
        if result.about != _about(access, report, pull, result.about["tables"]):
            raise ConflictError("The report was changed since this pull began.", "Start again from its first page.")
        return PullPage(pull, result, start, limit)
    pull = live.begin_pull(platform, access, lake, report)
    name, tables = worker_client.store_result(platform, pull.caller, pull.text, pull.purpose)
    result = stored_results.annotate(platform.settings, name, _about(access, report, pull, sorted(tables)))
    stored_results.make_room(platform.settings, _owner(access), _MAX_STORED)
    return PullPage(pull, result, 0, limit)


def _continue_pull(platform: Platform, cursor: str) -> tuple[StoredResult, int]:
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise InvalidInputError("The cursor is invalid.", "Use the address of the next page as it is.", field="cursor")
    return stored_results.load(platform.settings, found[1]), int(found[2])


def _about(access: LiveAccess, report: str, pull: ReportPull, tables: Sequence[str]) -> dict[str, object]:
    """Return what a stored result belongs to, of which a later page must be, and the tables that were read for it."""
    return {"owner": _owner(access), "report": report, "text": pull.text, "at": pull.at, "tables": tables}


def _owner(access: LiveAccess) -> str:
    return f"{access.tenant} {access.destination}"
