"""Notices of ended runs of a project: for receivers, and members whom a data mart or report names, who may
see the data mart.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.runs.run_table import FAILED, SUCCEEDED
from lakehold.runs.runnable import EndedRun, RunNotice, members_allowed, notified_members
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import CheckResult
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel

_SUMMARIES = {
    NotificationChannel.FAILED_RUNS: "has failed",
    NotificationChannel.BROKEN_CHECKS: "has broken checks",
    NotificationChannel.SUCCEEDED_RUNS: "has succeeded",
}


def run_notices(ctx: RequestContext, uid: str, mart: str, ended: EndedRun) -> list[RunNotice]:
    """Return the notices of a run of a data mart, or of a report on it, most severe first.

    Stopped runs have none.
    """
    if ended.state not in {FAILED, SUCCEEDED}:
        return []
    broken = checks.failed_results(ctx, ended.run, ended.since)
    found = []
    if ended.state == FAILED:
        message = "\n\n".join([ended.problem, *([_list_failed_checks(broken)] if broken else [])])
        found.append(_create_notice(ctx, uid, mart, NotificationChannel.FAILED_RUNS, message))
    if broken:
        found.append(_create_notice(ctx, uid, mart, NotificationChannel.BROKEN_CHECKS, _list_failed_checks(broken)))
    if ended.state == SUCCEEDED:
        found.append(_create_notice(ctx, uid, mart, NotificationChannel.SUCCEEDED_RUNS, ""))
    return found


def _create_notice(ctx: RequestContext, uid: str, mart: str, channel: NotificationChannel, message: str) -> RunNotice:
    project = kinds.workspace_of(ctx.view, mart)
    assert project is not None  # noqa: S101 - every mart lies in one
    # Members named by the mart or report are notified of failures.
    also = () if channel is NotificationChannel.SUCCEEDED_RUNS else notified_members(ctx, uid) or ()
    members = members_allowed(ctx, receivers.channel_receivers(ctx, project, channel, also), "see", mart)
    return RunNotice(_SUMMARIES[channel], members, message, f"/workspaces/{quote(project, safe='')}/notifications")


def _list_failed_checks(broken: Sequence[CheckResult]) -> str:
    return "\n".join(["Checks that did not hold:", *(f"- {each.name}: {each.said}" for each in broken)])
