"""access-models.md, lakehouse: `stop` covers stop, resume, retry, reload and backfill; who only sees runs does none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakehold.access import Add, Grant
from lakehold.catalog import editing
from lakehold.catalog.editing import Edit
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.errors import ForbiddenError
from lakehold.runs.runnable import Span, Wanted
from lakehold.runs.runs import Run
from tests.house import ADA, BOB
from tests.runs.test_triggers import RUNS, query

UID = "daily"
SPAN = Wanted(span=Span("2026-01-01", "2026-02-01"))
DEEDS: dict[str, Callable[[Work, str], Run]] = {
    "stop": RUNS.stop,
    "resume": RUNS.resume,
    "retry": RUNS.retry,
    "reload": lambda work, _: RUNS.start(work, UID, Wanted(reload=True)),
    "backfill": lambda work, _: RUNS.start(work, UID, SPAN),
}
"""Each is told of a run: one that waits is stopped, to one that was stopped the rest is done."""


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize(("level", "yes"), [("viewer", False), ("editor", True), ("manager", True)])
def test_stop_covers(house: Installation, level: str, yes: bool, deed: str) -> None:
    uid = query(house, UID)
    with house.write(ADA) as work:
        editing.edit(work, uid, Edit(settings={"sql": "SELECT 1 AS day", "table": UID, "cursor": "day"}))
        work.make(Add(Grant("bob", "member", "lh")))
        work.make(Add(Grant("bob", level, "bronze")))
        waits, stopped = RUNS.start(work, uid).id, RUNS.start(work, uid).id
        RUNS.stop(work, stopped)
    run = waits if deed == "stop" else stopped
    with house.write(BOB) as work:
        assert {each.id for each in RUNS.page(work, resource=uid)} == {waits, stopped}
        if yes:
            assert DEEDS[deed](work, run).resource == uid
            return
        with pytest.raises(ForbiddenError) as refusal:
            DEEDS[deed](work, run)
        assert "stop" in str(refusal.value) or "trigger" in str(refusal.value)
