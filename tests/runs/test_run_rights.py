"""access-models.md, lakehouse: `stop` covers stop, resume, retry, reload and backfill; who only sees runs does none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakehold.access import Add, Grant
from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError
from lakehold.runs.cause import CauseKind
from lakehold.runs.runnable import BackfillSpan, RunOptions
from lakehold.runs.service import Run
from tests.platform import ADA, BOB
from tests.runs.test_triggers import RUNS, query

UID = "daily"
SPAN = RunOptions(span=BackfillSpan("2026-01-01", "2026-02-01"))
DEEDS: dict[str, Callable[[RequestContext, str], Run]] = {
    "stop": RUNS.stop,
    "resume": RUNS.resume,
    "retry": RUNS.retry,
    "reload": lambda ctx, _: RUNS.start(ctx, UID, RunOptions(reload=True)),
    "backfill": lambda ctx, _: RUNS.start(ctx, UID, SPAN),
}
"""Each is told of a run: one that waits is stopped, to one that was stopped the rest is done."""
CAUSES = {"retry": CauseKind.RETRY, "backfill": CauseKind.BACKFILL}


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize(("level", "yes"), [("viewer", False), ("editor", True), ("manager", True)])
def test_stop_covers(platform: Platform, level: str, yes: bool, deed: str) -> None:
    uid = query(platform, UID)
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={"sql": "SELECT 1 AS day", "table": UID, "cursor": "day"})
        )
        ctx.make(Add(Grant("bob", "member", "lh")))
        ctx.make(Add(Grant("bob", level, "bronze")))
        waits, stopped = RUNS.start(ctx, uid).id, RUNS.start(ctx, uid).id
        RUNS.stop(ctx, stopped)
    run = waits if deed == "stop" else stopped
    with platform.write(BOB) as ctx:
        assert {each.id for each in RUNS.page(ctx, resource=uid)} == {waits, stopped}
        if yes:
            done = DEEDS[deed](ctx, run)
            assert (done.resource, done.cause.kind) == (uid, CAUSES.get(deed, CauseKind.MANUAL))
            return
        with pytest.raises(ForbiddenError) as refusal:
            DEEDS[deed](ctx, run)
        assert "stop" in str(refusal.value) or "trigger" in str(refusal.value)
