"""What a project tells of a run that has ended: to receivers, and those that a mart or report names, who may see the
data mart at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED, SUCCEEDED
from lakehold.runs.runnable import Ended, Notice, named, seeing
from lakehold.workspaces.marts import quality
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.channels import Channel
from lakehold.workspaces.marts.quality import Outcome

_DEEDS = {
    Channel.FAILED_RUNS: "has failed",
    Channel.BROKEN_CHECKS: "has broken checks",
    Channel.SUCCEEDED_RUNS: "has succeeded",
}


def notices(ctx: RequestContext, uid: str, mart: str, ended: Ended) -> list[Notice]:
    """Of a run of a data mart, or of a report on it: the worst first. Of one that was stopped, nothing is told."""
    if ended.state not in {FAILED, SUCCEEDED}:
        return []
    broken = quality.not_kept(ctx, ended.run, ended.since)
    found = []
    if ended.state == FAILED:
        said = "\n\n".join([ended.problem, *([_listed(broken)] if broken else [])])
        found.append(_notice(ctx, uid, mart, Channel.FAILED_RUNS, said))
    if broken:
        found.append(_notice(ctx, uid, mart, Channel.BROKEN_CHECKS, _listed(broken)))
    if ended.state == SUCCEEDED:
        found.append(_notice(ctx, uid, mart, Channel.SUCCEEDED_RUNS, ""))
    return found


def _notice(ctx: RequestContext, uid: str, mart: str, channel: Channel, said: str) -> Notice:
    project = kinds.workspace_of(ctx.view, mart)
    assert project is not None  # noqa: S101 - every mart lies in one
    # Whom a mart or a report names is told of what goes wrong.
    also = () if channel is Channel.SUCCEEDED_RUNS else named(ctx, uid) or ()
    told = seeing(ctx, receivers.of(ctx, project, channel, also), "see", mart)
    return Notice(_DEEDS[channel], told, said, f"/workspaces/{quote(project, safe='')}/notifications")


def _listed(broken: Sequence[Outcome]) -> str:
    return "\n".join(["Checks that did not hold:", *(f"- {each.name}: {each.said}" for each in broken)])
