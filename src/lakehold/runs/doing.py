"""A job's steps: begin it, do it, end it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from lakehold.directory.installation import Installation
from lakehold.kit.errors import LakeholdError
from lakehold.runs import book, kinds
from lakehold.runs.making import Making

_log = logging.getLogger("lakehold.runs")
_MOST_TRIES = 3
_OWNER_ONLY = 0o700

Outcome = Mapping[str, object]
"""What is to be written into the job's row in the end: `error`, or `result` and `rows`."""


def begin(house: Installation, uid: str) -> Outcome:
    """Ask once more whether its starter may have this; what stands against it, or nothing."""
    row = _row(house, uid)
    try:
        with house.write(book.caller_of(row)) as work:
            kinds.known(row.kind).need(work, json.loads(row.wanted))
            book.move(work.session.transaction, uid, {"state": book.RUNNING, "started_at": work.at})
    except LakeholdError as error:
        if error.retryable:
            raise
        return {"error": str(error)}
    return {}


def do(house: Installation, uid: str) -> Outcome:
    """Do it. A job at which workers die is given up after some of them."""
    row = _row(house, uid)
    if row.tries >= _MOST_TRIES:
        return {"error": f"The worker was stopped {row.tries} times while it did this; it is not tried again."}
    with house.database.write() as transaction:
        book.move(transaction, uid, {"tries": row.tries + 1})
    _log.info("job %s is begun: %s", uid, row.kind)
    folder = book.folder(house.settings.data, row.tenant_id)
    folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
    try:
        file, rows = _makers()[row.kind](Making(house, row, folder))
    except LakeholdError as error:
        return {"error": str(error)}
    except Exception:  # noqa: BLE001 - the edge: whoever waits is told, and the log has the rest
        _log.exception("job %s failed", uid)
        return {"error": "It failed for a reason of our own; the worker's log has it."}
    return {"result": file.name, "rows": rows}


def end(house: Installation, uid: str, outcome: Outcome) -> None:
    """Write down what became of it."""
    state = book.FAILED if "error" in outcome else book.DONE
    values = {"progress": 100, **outcome, "state": state, "doing": "", "ended_at": house.clock()}
    with house.database.write() as transaction:
        book.move(transaction, uid, values)
    _log.info("job %s is %s", uid, state)


def _row(house: Installation, uid: str) -> book.JobRow:
    with house.database.read() as transaction:
        return book.row_of(transaction, uid)


def _makers() -> Mapping[str, Callable[[Making], tuple[Path, int]]]:
    # Here, not above: the first review is early enough to load Spark.
    from lakehold.runs import exports, reviews  # noqa: PLC0415

    return {kinds.REVIEW: reviews.make, kinds.AUDIT: exports.make}
