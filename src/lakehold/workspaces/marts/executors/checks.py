"""Executor of the checks of a data mart: after each refresh, or on demand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError
from lakehold.lake import readable_tables
from lakehold.lake.errors import DataError
from lakehold.lake.spark import row_checks
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import BROKEN, KEPT, UNKNOWN, CheckResult
from lakehold.workspaces.marts.pipelines.data_mart import mart_settings
from lakehold.workspaces.marts.settings import CheckKind, QualityCheck
from lakehold.workspaces.marts.steps import RunChecks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def run_checks(step: RunChecks, step_ctx: StepContext) -> StepResult:
    """Run all checks, whatever the result of one is; fail the run after all results are stored."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        quality_checks = mart_settings(ctx, step.mart).checks
        place = readable_tables.identifier_of(ctx, step.mart)
    rows = step_ctx.tables.read(place)
    found = [_check_result(check, rows, step_ctx) for check in quality_checks]
    with step_ctx.platform.database.write() as transaction:
        checks.save_results(transaction, place.tenant, place.number, step_ctx.mark, found)
    stopping = ""
    for check, outcome in zip(quality_checks, found, strict=True):
        broken = outcome.state != KEPT
        step_ctx.log(f"{outcome.name}: {outcome.said}", "warning" if broken else "info")
        stopping = stopping or (f"{outcome.name}: {outcome.said}" if broken and check.stops else "")
    if stopping:
        raise DataError(f"A check of the data mart is broken. {stopping}", "Correct the rows where they come from.")
    return StepResult(state={"broken": sum(outcome.state != KEPT for outcome in found)})


def _check_result(check: QualityCheck, rows: DataFrame, step_ctx: StepContext) -> CheckResult:
    at = step_ctx.platform.clock()
    try:
        wrong = _violation(check, rows, step_ctx)
    except LakeholdError as error:
        return CheckResult(check.name, UNKNOWN, str(error), at)
    return CheckResult(check.name, BROKEN if wrong else KEPT, wrong or "as it should be", at)


def _violation(check: QualityCheck, rows: DataFrame, step_ctx: StepContext) -> str:
    """Return a message of what is wrong, or an empty text."""
    match check.kind:
        case CheckKind.NOT_NULL:
            return _count_message(row_checks.count_nulls(rows, check.fields[0]), "have no value")
        case CheckKind.UNIQUE:
            return _count_message(row_checks.count_duplicates(rows, check.fields), "have the same values as another")
        case CheckKind.ACCEPTED_VALUES:
            return _count_message(
                row_checks.count_unexpected(rows, check.fields[0], check.values), "have another value"
            )
        case CheckKind.ROW_COUNT:
            return _row_count_message(check, rows.count())
        case CheckKind.FRESHNESS:
            now = datetime.fromtimestamp(step_ctx.platform.clock() / SECOND, UTC)
            return _freshness_message(check, row_checks.latest_time(rows, check.fields[0]), now)
        case _:
            return _count_message(step_ctx.run_query("", check.sql)[0].count(), "are wrong")


def _count_message(count: int, what: str) -> str:
    return f"{count:,} rows {what}" if count else ""


def _row_count_message(check: QualityCheck, count: int) -> str:
    if count < check.least:
        return f"there are {count:,} rows, and {check.least:,} at the least should be there"
    if check.most is not None and count > check.most:
        return f"there are {count:,} rows, and {check.most:,} at the most should be there"
    return ""


def _freshness_message(check: QualityCheck, newest: datetime | None, now: datetime) -> str:
    if newest is None:
        return "there is no time in it"
    if (now - newest) / timedelta(hours=1) > check.hours:
        return f"the newest is of {newest:%Y-%m-%d %H:%M}, more than {check.hours:g} hours ago"
    return ""
