"""What is told of a run that has ended: by mail to whom its workspace names, and of a failure to an address too."""

from __future__ import annotations

import re

from lakehold.catalog import access_mails
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.runs import hooks
from lakehold.runs.run_table import FAILED, RunRow
from lakehold.runs.runnable import Ended, Notice, Runnables

_RUN = re.compile(r"run_\w+")


def tell(ctx: RequestContext, settings: Settings, runnables: Runnables, row: RunRow, ended: Ended) -> int:
    """Put the mails into the outbox, and the webhook; how many mails. Nobody gets two of one run.

    In the transaction that ends the run: whoever is killed before its commit has told nobody, and after it nobody ends
    the run again.
    """
    uid = ctx.view.uids.get(row.resource_id)
    if uid is None:
        return 0
    if ended.state == FAILED:
        hooks.put(ctx, settings, runnables, row, ended.problem)
    name, told, count = ctx.view.names.get(row.resource_id) or uid, set[str](), 0
    for notice in runnables[row.kind].notices(ctx, uid, ended):
        new = [member for member in notice.receivers if member not in told]
        told.update(new)
        count += access_mails.queue_mails(
            ctx, settings, new, f"{name} {notice.deed}", _body(settings, row, name, notice)
        )
    return count


def _body(settings: Settings, row: RunRow, name: str, notice: Notice) -> str:
    # Which run it came after is for those who may see that one.
    cause = _RUN.sub("another run", row.cause)
    parts = [f"{name} was run {cause} and {notice.deed}.", notice.said, f"{settings.base_url}/runs/{row.id}"]
    if notice.page:
        parts.append(f"Who is told of this: {settings.base_url}{notice.page}")
    return "\n\n".join(part for part in parts if part) + "\n"
