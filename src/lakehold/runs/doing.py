"""A job's steps: begin it, do it, end it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.runs import book, kinds
from lakehold.runs.making import Making

_log = logging.getLogger("lakehold.runs")
_MOST_TRIES = 3
_OWNER_ONLY = 0o700

Outcome = Mapping[str, object]
"""What is to be written into the job's row in the end: `error`, or `result` and `rows`."""


def begin(platform: Platform, uid: str) -> Outcome:
    """Ask once more whether its starter may have this; what stands against it, or nothing."""
    row = _row(platform, uid)
    try:
        with platform.write(book.caller_of(row)) as ctx:
            kinds.known(row.kind).need(ctx, json.loads(row.wanted))
            book.move(ctx.session.transaction, uid, {"state": book.RUNNING, "started_at": ctx.at})
    except LakeholdError as error:
        if error.retryable:
            raise
        return {"error": str(error)}
    return {}


def do(platform: Platform, uid: str) -> Outcome:
    """Do it. A job at which workers die is given up after some of them."""
    row = _row(platform, uid)
    if row.tries >= _MOST_TRIES:
        return {"error": f"The worker was stopped {row.tries} times while it did this; it is not tried again."}
    with platform.database.write() as transaction:
        book.move(transaction, uid, {"tries": row.tries + 1})
    _log.info("job %s is begun: %s", uid, row.kind)
    folder = book.folder(platform.settings.data, row.tenant_id)
    folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
    try:
        file, rows = _makers()[row.kind](Making(platform, row, folder))
    except LakeholdError as error:
        return {"error": str(error)}
    except Exception:  # noqa: BLE001 - the edge: whoever waits is told, and the log has the rest
        _log.exception("job %s failed", uid)
        return {"error": "It failed for a reason of our own; the worker's log has it."}
    return {"result": file.name, "rows": rows}


def end(platform: Platform, uid: str, outcome: Outcome) -> None:
    """Write down what became of it."""
    state = book.FAILED if "error" in outcome else book.DONE
    values = {"progress": 100, **outcome, "state": state, "doing": "", "ended_at": platform.clock()}
    with platform.database.write() as transaction:
        book.move(transaction, uid, values)
    _log.info("job %s is %s", uid, state)


def _row(platform: Platform, uid: str) -> book.JobRow:
    with platform.database.read() as transaction:
        return book.row_of(transaction, uid)


def _makers() -> Mapping[str, Callable[[Making], tuple[Path, int]]]:
    # Here, not above: the first review is early enough to load Spark.
    from lakehold.runs import (
        exports,  # noqa: PLC0415
        reviews,  # noqa: PLC0415
    )

    return {kinds.REVIEW: reviews.make, kinds.AUDIT: exports.make}
