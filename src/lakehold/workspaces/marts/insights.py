"""What became of reports: where each was last delivered to, when it was last pulled, how often and how long.

Of the last ninety days, from runs and from what was pulled. For whoever sees the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import sqlalchemy as sa

from lakehold.catalog import resource_metadata, resource_view
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.workspaces.ends import ends
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.live.pulls import DAYS, live_pull_table

_AT_ONCE, _FILES = 1_000, "files"
_DELIVERED = '%"places"%'
"""A step that has sent something says where to."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How often a report was sent."""

    times: int = 0
    failed: int = 0
    last_run: int | None = None
    last_at: Moment | None = None
    last_rows: int = 0
    places: tuple[str, ...] = ()
    """Where the last one went."""
    sure: bool = True
    """Whether the last one cannot have arrived twice."""
    seconds: float = 0
    """How long a run took, on average."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """How often a report was read by a BI tool."""

    times: int = 0
    last_at: Moment | None = None
    rows: int = 0
    """Of all of them."""
    seconds: float = 0
    """How long one took, on average."""


@dataclass(frozen=True, slots=True)
class Insight:
    """What became of one report."""

    report: ResourceRef
    destination: ResourceRef | None
    """Where it goes, if the caller sees that."""
    delivered: Delivery
    pulled: Pulled

    @property
    def last_at(self) -> Moment | None:
        """When it was last sent or read."""
        return max((at for at in (self.delivered.last_at, self.pulled.last_at) if at is not None), default=None)


class _Last(NamedTuple):
    """What the run of the last delivery said."""

    rows: int
    told: Mapping[str, Any]


def of_report(ctx: RequestContext, uid: str) -> Insight:
    """Of one."""
    nouns.need(ctx, uid, nouns.REPORT)
    return placed(ctx, _counted(ctx, [ctx.view.resource(uid)]))[0]


def of_project(ctx: RequestContext, uid: str) -> list[Insight]:
    """Of all that the caller sees in a project: those that were sent or read last come first. Where each went is not
    among it: of the few that are shown it is `placed`.
    """
    nouns.need(ctx, uid, nouns.PROJECT)
    numbers = ctx.session.ids(ctx.asker, "see", nouns.REPORT, within=uid)
    found: list[Insight] = []
    for start in range(0, len(numbers), _AT_ONCE):
        found += _counted(ctx, numbers[start : start + _AT_ONCE])
    return sorted(found, key=lambda each: (-(each.last_at or 0), each.report.name.casefold()))


def placed(ctx: RequestContext, found: Sequence[Insight]) -> list[Insight]:
    """With where each goes, and where it went last, as far as the caller may know."""
    eyes = VisibleRefs(ctx)
    goals = [next(iter(eyes.refs(ends(ctx, each.report.uid, "destination"))), None) for each in found]
    known = _known(ctx, {goal.uid for goal in goals if goal is not None})
    last = _last(ctx, [each.delivered.last_run for each in found if each.delivered.last_run is not None])
    return [
        replace(
            each,
            destination=goal,
            delivered=_sent(each.delivered, last, is_known=goal is not None and goal.uid in known),
        )
        for each, goal in zip(found, goals, strict=True)
    ]


def _counted(ctx: RequestContext, numbers: Sequence[int]) -> list[Insight]:
    delivered, pulled = _deliveries(ctx, numbers), _pulls(ctx, numbers)
    reports = ctx.session.read_view(lambda view: [resource_view.make_ref(view, view.uid(number)) for number in numbers])
    return [
        Insight(report, None, delivered.get(number, Delivery()), pulled.get(number, Pulled()))
        for number, report in zip(numbers, reports, strict=True)
    ]


def _known(ctx: RequestContext, destinations: Iterable[str]) -> set[str]:
    """Those of which the caller may know the places. Receivers and addresses are for who may edit a destination, as its
    settings are; files are for who may use it.
    """
    numbers = {ctx.view.resource(uid): uid for uid in destinations}
    told = resource_metadata.load_many(ctx, list(numbers))
    rights = {
        uid: "use" if number in told and told[number].settings.get("to") == _FILES else "edit"
        for number, uid in numbers.items()
    }
    return {uid for uid, right in rights.items() if ctx.session.check(ctx.asker, right, uid)}


def _deliveries(ctx: RequestContext, numbers: Sequence[int]) -> dict[int, Delivery]:
    c, s = run_table.c, run_step_table.c
    mine = [c.tenant_id == ctx.session.tenant, c.resource_id.in_(numbers), c.made_at >= ctx.at - DAYS * DAY]
    sent = sa.and_(c.state == states.SUCCEEDED, s.told.like(_DELIVERED))
    query = (
        sa.select(
            c.resource_id,
            sa.func.sum(sa.case((sent, 1), else_=0)).label("times"),
            sa.func.sum(sa.case((c.state == states.FAILED, 1), else_=0)).label("failed"),
            sa.func.max(sa.case((sent, s.run))).label("last_run"),
            sa.func.max(sa.case((sent, s.ended_at))).label("last_at"),
            sa.func.avg(sa.case((sent, c.ended_at - c.started_at))).label("took"),
        )
        .outerjoin(run_step_table, (s.run == c.n) & (s.number == 0))
        .where(*mine)
        .group_by(c.resource_id)
    )
    return {
        row.resource_id: Delivery(
            int(row.times),
            int(row.failed),
            row.last_run,
            row.last_at,
            seconds=round(float(row.took or 0) / SECOND, 3),
        )
        for row in ctx.session.transaction.connection.execute(query)
    }


def _sent(delivery: Delivery, last: Mapping[int, _Last], *, is_known: bool) -> Delivery:
    """With what the last run said of it."""
    if delivery.last_run is None:
        return delivery
    rows, told = last[delivery.last_run]
    places = tuple(told["places"]) if is_known else ()
    return replace(delivery, last_rows=rows, places=places, sure=bool(told.get("sure", True)))


def _last(ctx: RequestContext, runs: Sequence[int]) -> dict[int, _Last]:
    """What these runs said of how many rows they have sent, and where to."""
    s, found = run_step_table.c, dict[int, _Last]()
    for start in range(0, len(runs), _AT_ONCE):
        some = runs[start : start + _AT_ONCE]
        query = sa.select(s.run, s.rows, s.told).where(s.run.in_(some), s.number == 0)
        for row in ctx.session.transaction.connection.execute(query):
            found[row.run] = _Last(row.rows, json.loads(row.told))
    return found


def _pulls(ctx: RequestContext, numbers: Sequence[int]) -> dict[int, Pulled]:
    c = live_pull_table.c
    query = (
        sa.select(
            c.report_id,
            sa.func.count().label("times"),
            sa.func.max(c.at).label("last"),
            sa.func.sum(c.rows).label("rows"),
            sa.func.avg(c.milliseconds).label("took"),
        )
        .where(c.tenant_id == ctx.session.tenant, c.report_id.in_(numbers), c.at >= ctx.at - DAYS * DAY)
        .group_by(c.report_id)
    )
    return {
        row.report_id: Pulled(row.times, row.last, int(row.rows), round(float(row.took) / 1_000, 3))
        for row in ctx.session.transaction.connection.execute(query)
    }
