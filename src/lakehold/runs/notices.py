"""Who is told that a run has failed: whom it was for, or those that the pipeline names; of these, who may see it."""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.catalog import details, telling
from lakehold.directory.work import Work
from lakehold.kit.settings import Settings
from lakehold.runs import hooks
from lakehold.runs.run_table import RunRow
from lakehold.runs.runnable import Runnables

NOTIFY = "notify"
"""The setting of a pipeline that names members."""


def tell(work: Work, settings: Settings, runnables: Runnables, row: RunRow, problem: str) -> int:
    """Put the mails into the outbox, and the webhook; how many mails."""
    uid = work.view.uids.get(row.resource_id)
    if uid is None:
        return 0
    hooks.put(work, settings, runnables, row, problem)
    named = details.read(work, uid).settings.get(NOTIFY)
    wanted = (
        [row.started_by] if not isinstance(named, Sequence) or isinstance(named, str) else [str(at) for at in named]
    )
    see = runnables[row.kind].see
    seeing = [
        member for member in wanted if work.view.ids.get(member) is not None and work.session.check(member, see, uid)
    ]
    name = work.view.names.get(row.resource_id) or uid
    body = f"{name} was run {row.cause} and has failed.\n\n{problem}\n\n{settings.base}/runs/{row.id}\n"
    return telling.tell(work, settings, seeing, f"{name} has failed", body)
