"""What became of reports: where each was last delivered to, when it was last pulled, how often and how long.

Of the last ninety days, from runs and from what was pulled. For whoever sees the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from lakehold.catalog import details, shapes
from lakehold.catalog.shapes import Eyes, Ref
from lakehold.directory.work import Work
from lakehold.kit.clock import DAY, SECOND, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import shown
from lakehold.runs import run_table as states
from lakehold.runs.run_table import run_step_table, run_table
from lakehold.workspaces.ends import ends
from lakehold.workspaces.marts.live.pulls import DAYS, live_pull_table

REPORT, PROJECT = "marts.report", "marts.project"
_AT_ONCE, _FILES = 200, "files"
_DELIVERED = '%"places"%'
"""A step that has sent something says where to."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How often a report was sent."""

    times: int = 0
    failed: int = 0
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

    report: Ref
    destination: Ref | None
    """Where it goes, if the caller sees that."""
    delivered: Delivery
    pulled: Pulled

    @property
    def last_at(self) -> Moment | None:
        """When it was last sent or read."""
        return max((at for at in (self.delivered.last_at, self.pulled.last_at) if at is not None), default=None)


def of_report(work: Work, uid: str) -> Insight:
    """Of one."""
    _need(work, uid, REPORT)
    return _insights(work, [uid])[0]


def of_project(work: Work, uid: str) -> list[Insight]:
    """Of all that the caller sees in a project: those that were sent or read last come first."""
    _need(work, uid, PROJECT)
    found: list[Insight] = []
    after = None
    while True:
        page = work.session.list(work.asker, "see", REPORT, within=uid, after=after, limit=_AT_ONCE)
        found += _insights(work, [each.uid for each in page.items])
        after = page.after
        if after is None:
            return sorted(found, key=lambda each: (-(each.last_at or 0), each.report.name.casefold()))


def _need(work: Work, uid: str, kind: str) -> None:
    work.see(uid)
    if work.view.kind(work.view.resource(uid)) != kind:
        raise InvalidInputError(f"{shown(uid)} is no {kind.rpartition('.')[2]}.", "Choose one.")
    work.need("see", uid)


def _insights(work: Work, uids: Sequence[str]) -> list[Insight]:
    eyes, numbers = Eyes(work), [work.view.resource(uid) for uid in uids]
    delivered, pulled = _deliveries(work, numbers), _pulls(work, numbers)
    goals = [next(iter(eyes.refs(ends(work, uid, "destination"))), None) for uid in uids]
    known = _known(work, {goal.uid for goal in goals if goal is not None})
    found = []
    for uid, number, to in zip(uids, numbers, goals, strict=True):
        sent = delivered.get(number, Delivery())
        shown_sent = sent if to is not None and to.uid in known else replace(sent, places=())
        found.append(Insight(shapes.ref(work.view, uid), to, shown_sent, pulled.get(number, Pulled())))
    return found


def _known(work: Work, destinations: Iterable[str]) -> set[str]:
    """Those of which the caller may know the places. Receivers and addresses are for who may edit a destination, as its
    settings are; files are for who may use it.
    """
    numbers = {work.view.resource(uid): uid for uid in destinations}
    told = details.read_many(work, list(numbers))
    rights = {
        uid: "use" if number in told and told[number].settings.get("to") == _FILES else "edit"
        for number, uid in numbers.items()
    }
    return {uid for uid, right in rights.items() if work.session.check(work.asker, right, uid)}


def _deliveries(work: Work, numbers: Sequence[int]) -> dict[int, Delivery]:
    c, s = run_table.c, run_step_table.c
    mine = [c.tenant_id == work.session.tenant, c.resource_id.in_(numbers), c.made_at >= work.at - DAYS * DAY]
    sent = sa.and_(c.state == states.SUCCEEDED, s.told.like(_DELIVERED))
    query = (
        sa.select(
            c.resource_id,
            sa.func.sum(sa.case((sent, 1), else_=0)).label("times"),
            sa.func.sum(sa.case((c.state == states.FAILED, 1), else_=0)).label("failed"),
            sa.func.max(sa.case((sent, s.run))).label("last"),
            sa.func.avg(sa.case((sent, c.ended_at - c.started_at))).label("took"),
        )
        .outerjoin(run_step_table, (s.run == c.n) & (s.number == 0))
        .where(*mine)
        .group_by(c.resource_id)
    )
    rows = work.session.transaction.connection.execute(query).all()
    last = _last(work, [row.last for row in rows if row.last is not None])
    return {
        row.resource_id: replace(
            last.get(row.last, Delivery()),
            times=int(row.times),
            failed=int(row.failed),
            seconds=round(float(row.took or 0) / SECOND, 3),
        )
        for row in rows
    }


def _last(work: Work, runs: Iterable[int]) -> dict[int, Delivery]:
    """When the last delivery ended, of how many rows, and where it went."""
    s = run_step_table.c
    query = sa.select(s.run, s.ended_at, s.rows, s.told).where(s.run.in_(list(runs)), s.number == 0)
    found = {}
    for row in work.session.transaction.connection.execute(query):
        told = json.loads(row.told)
        found[row.run] = Delivery(
            last_at=row.ended_at,
            last_rows=row.rows,
            places=tuple(told["places"]),
            sure=bool(told.get("sure", True)),
        )
    return found


def _pulls(work: Work, numbers: Sequence[int]) -> dict[int, Pulled]:
    c = live_pull_table.c
    query = (
        sa.select(
            c.report_id,
            sa.func.count().label("times"),
            sa.func.max(c.at).label("last"),
            sa.func.sum(c.rows).label("rows"),
            sa.func.avg(c.milliseconds).label("took"),
        )
        .where(c.tenant_id == work.session.tenant, c.report_id.in_(numbers), c.at >= work.at - DAYS * DAY)
        .group_by(c.report_id)
    )
    return {
        row.report_id: Pulled(row.times, row.last, int(row.rows), round(float(row.took) / 1_000, 3))
        for row in work.session.transaction.connection.execute(query)
    }
