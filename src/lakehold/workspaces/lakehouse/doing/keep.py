"""A table into its history: read as the person whom the run is for, written by the platform."""

from __future__ import annotations

from datetime import UTC, datetime

from lakehold.kit.clock import SECOND
from lakehold.lake.spark.history import HistoryOptions, update_history
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.lakehouse.doing import inputs, outputs
from lakehold.workspaces.lakehouse.steps import Keep


def run_update_history(step: Keep, doing: StepContext) -> Done:
    """One write of all that has changed."""
    rows = inputs.rows(doing, step.source)
    place = outputs.place(doing, step.into)
    doing.go_on()
    how = HistoryOptions(
        keys=step.keys,
        at=step.at or None,
        track=step.track or None,
        ignore=step.ignore,
        closes_missing=step.closes_missing,
        last_by=step.last_by or None,
    )
    moment = datetime.fromtimestamp(doing.platform.clock() / SECOND, UTC)
    done = update_history(doing.tables, rows, place, how, mark=doing.mark, moment=moment)
    doing.log(f"{done.added:,} versions written; the history has {done.total:,}")
    return Done(done.added, done.size)
