"""The checks of a data mart: looked at after each refresh, or when somebody wants to know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.lake import readable_tables
from lakehold.lake.errors import DataError
from lakehold.lake.spark import row_checks as rows_are
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.marts import quality
from lakehold.workspaces.marts.checks import Check, CheckKind, checks_of
from lakehold.workspaces.marts.pipelines.mart import told_of
from lakehold.workspaces.marts.quality import BROKEN, KEPT, UNKNOWN, Outcome
from lakehold.workspaces.marts.steps import Look

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def do(step: Look, doing: StepContext) -> Done:
    """All of them, whatever comes out of one. What stops a run does so when all are written down."""
    with doing.platform.read(doing.caller) as ctx:
        promised = checks_of(told_of(ctx, step.mart))
        place = readable_tables.identifier_of(ctx, step.mart)
    rows = doing.tables.read(place)
    found = [_outcome(check, rows, doing) for check in promised]
    with doing.platform.database.write() as transaction:
        quality.write(transaction, place.tenant, place.number, doing.mark, found)
    stopping = ""
    for check, outcome in zip(promised, found, strict=True):
        broken = outcome.state != KEPT
        doing.log(f"{outcome.name}: {outcome.said}", "warning" if broken else "info")
        stopping = stopping or (f"{outcome.name}: {outcome.said}" if broken and check.stops else "")
    if stopping:
        raise DataError(f"A check of the data mart is broken. {stopping}", "Correct the rows where they come from.")
    return Done(told={"broken": sum(outcome.state != KEPT for outcome in found)})


def _outcome(check: Check, rows: DataFrame, doing: StepContext) -> Outcome:
    at = doing.platform.clock()
    try:
        wrong = _wrong(check, rows, doing)
    except LakeholdError as error:
        return Outcome(check.name, UNKNOWN, str(error), at)
    return Outcome(check.name, BROKEN if wrong else KEPT, wrong or "as it should be", at)


def _wrong(check: Check, rows: DataFrame, doing: StepContext) -> str:
    """What is wrong, in words; empty if nothing is."""
    match check.kind:
        case CheckKind.FILLED:
            return _counted(rows_are.count_nulls(rows, check.fields[0]), "have no value")
        case CheckKind.UNIQUE:
            return _counted(rows_are.count_duplicates(rows, check.fields), "have the same values as another")
        case CheckKind.AMONG:
            return _counted(rows_are.count_unexpected(rows, check.fields[0], check.values), "have another value")
        case CheckKind.ROWS:
            return _rows(check, rows.count())
        case CheckKind.FRESH:
            now = datetime.fromtimestamp(doing.platform.clock() / SECOND, UTC)
            return _old(check, rows_are.latest_time(rows, check.fields[0]), now)
        case _:
            return _counted(doing.asked("", check.sql)[0].count(), "are wrong")


def _counted(count: int, what: str) -> str:
    return f"{count:,} rows {what}" if count else ""


def _rows(check: Check, count: int) -> str:
    if count < check.least:
        return f"there are {count:,} rows, and {check.least:,} at the least should be there"
    if check.most is not None and count > check.most:
        return f"there are {count:,} rows, and {check.most:,} at the most should be there"
    return ""


def _old(check: Check, newest: datetime | None, now: datetime) -> str:
    if newest is None:
        return "there is no time in it"
    if (now - newest) / timedelta(hours=1) > check.hours:
        return f"the newest is of {newest:%Y-%m-%d %H:%M}, more than {check.hours:g} hours ago"
    return ""
