"""Usage of reports over the last ninety days: where and how often each was delivered or pulled, and how long it took.

Computed from runs and pulls, for those who see the report.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from lakehold.catalog import resource_metadata, resource_view
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.workspaces.graph import edge_targets, need_kind
from lakehold.workspaces.marts.live import RETENTION_DAYS, live_pull_table
from lakehold.workspaces.marts.settings import PROJECT_KIND, REPORT_KIND

_BATCH = 1_000
_DELIVERED = '%"places"%'
"""A step that has sent something says where to."""


@dataclass(frozen=True, slots=True)
class DeliveryStatistics:
    """The deliveries of a report in numbers."""

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
class PullStatistics:
    """The pulls of a report by BI tools in numbers."""

    times: int = 0
    last_at: Moment | None = None
    rows: int = 0
    """Of all of them."""
    seconds: float = 0
    """How long one took, on average."""


@dataclass(frozen=True, slots=True)
class ReportUsage:
    """The usage of one report."""

    report: ResourceRef
    destination: ResourceRef | None
    """Where it goes, if the caller sees that."""
    delivered: DeliveryStatistics
    pulled: PullStatistics

    @property
    def last_at(self) -> Moment | None:
        """The moment of the last delivery or pull."""
        return max((at for at in (self.delivered.last_at, self.pulled.last_at) if at is not None), default=None)


def report_insight(ctx: RequestContext, uid: str) -> ReportUsage:
    """Return the usage of one report."""
    need_kind(ctx, uid, "see", (REPORT_KIND,))
    return with_destinations(ctx, _load_insights(ctx, [ctx.view.resource(uid)]))[0]


def project_insights(ctx: RequestContext, uid: str) -> list[ReportUsage]:
    """Return the usage of all visible reports, last used first; `with_destinations` completes those that are shown."""
    need_kind(ctx, uid, "see", (PROJECT_KIND,))
    numbers = ctx.session.ids(ctx.principal, "see", REPORT_KIND, within=uid)
    found = [each for some in _batches(numbers) for each in _load_insights(ctx, some)]
    return sorted(found, key=lambda each: (-(each.last_at or 0), each.report.name.casefold()))


def with_destinations(ctx: RequestContext, found: Sequence[ReportUsage]) -> list[ReportUsage]:
    """Add to each its destination and where it was last delivered, as far as the caller may know."""
    visible = VisibleRefs(ctx)
    goals = [next(iter(visible.refs(edge_targets(ctx, each.report.uid, "destination"))), None) for each in found]
    known = _with_visible_places(ctx, {goal.uid for goal in goals if goal is not None})
    last = _last_deliveries(ctx, [each.delivered.last_run for each in found if each.delivered.last_run is not None])
    complete = []
    for each, goal in zip(found, goals, strict=True):
        delivered = each.delivered
        if delivered.last_run is not None:
            rows, state = last[delivered.last_run]
            places = tuple(state["places"]) if goal is not None and goal.uid in known else ()
            delivered = replace(delivered, last_rows=rows, places=places, sure=bool(state.get("sure", True)))
        complete.append(replace(each, destination=goal, delivered=delivered))
    return complete


def _load_insights(ctx: RequestContext, numbers: Sequence[int]) -> list[ReportUsage]:
    delivered, pulled = _delivery_statistics(ctx, numbers), _pull_statistics(ctx, numbers)
    reports = ctx.session.read_view(lambda view: [resource_view.make_ref(view, view.uid(number)) for number in numbers])
    return [
        ReportUsage(report, None, delivered.get(number, DeliveryStatistics()), pulled.get(number, PullStatistics()))
        for number, report in zip(numbers, reports, strict=True)
    ]


def _with_visible_places(ctx: RequestContext, destinations: Collection[str]) -> set[str]:
    """Return the destinations whose places the caller may know: receivers need the right to edit, files that to use."""
    numbers = {ctx.view.resource(uid): uid for uid in destinations}
    metadata = resource_metadata.load_many(ctx, list(numbers))
    files = {numbers[number] for number, each in metadata.items() if each.settings.get("to") == "files"}
    return {uid for uid in destinations if ctx.session.check(ctx.principal, "use" if uid in files else "edit", uid)}


def _delivery_statistics(ctx: RequestContext, numbers: Sequence[int]) -> dict[int, DeliveryStatistics]:
    c, s = run_table.c, run_step_table.c
    mine = [c.tenant_id == ctx.session.tenant, c.resource_id.in_(numbers), c.made_at >= ctx.at - RETENTION_DAYS * DAY]
    sent = sa.and_(c.state == states.SUCCEEDED, s.saved_state.like(_DELIVERED))
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
    found = {}
    for row in ctx.session.transaction.connection.execute(query):
        seconds = round(float(row.took or 0) / SECOND, 3)
        counts = int(row.times), int(row.failed)
        found[row.resource_id] = DeliveryStatistics(*counts, row.last_run, row.last_at, seconds=seconds)
    return found


def _last_deliveries(ctx: RequestContext, runs: Sequence[int]) -> dict[int, tuple[int, Mapping[str, Any]]]:
    """Return the number of rows that these runs have sent, and the state that they left."""
    s, found = run_step_table.c, dict[int, tuple[int, Mapping[str, Any]]]()
    for some in _batches(runs):
        query = sa.select(s.run, s.rows, s.saved_state).where(s.run.in_(some), s.number == 0)
        for row in ctx.session.transaction.connection.execute(query):
            found[row.run] = row.rows, json.loads(row.saved_state)
    return found


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield so many numbers at a time as one statement takes."""
    return (numbers[start : start + _BATCH] for start in range(0, len(numbers), _BATCH))


def _pull_statistics(ctx: RequestContext, numbers: Sequence[int]) -> dict[int, PullStatistics]:
    c = live_pull_table.c
    query = (
        sa.select(
            c.report_id,
            sa.func.count().label("times"),
            sa.func.max(c.at).label("last"),
            sa.func.sum(c.rows).label("rows"),
            sa.func.avg(c.milliseconds).label("took"),
        )
        .where(c.tenant_id == ctx.session.tenant, c.report_id.in_(numbers), c.at >= ctx.at - RETENTION_DAYS * DAY)
        .group_by(c.report_id)
    )
    return {
        row.report_id: PullStatistics(row.times, row.last, int(row.rows), round(float(row.took) / 1_000, 3))
        for row in ctx.session.transaction.connection.execute(query)
    }
