"""Tables that were deleted: their rows stay for some days, and come back as a table of the same name.

Whoever could delete it then, and may make a table in its layer now, may restore it. It has a new id, its description,
and the rights that its layer gives. What was granted on the old one itself ended with it; who held it is told, so that
it can be granted anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access.facts import spans

# past the access filter: what is deleted is in no list; who could delete it is asked of the facts of then
from lakehold.access.facts.tables import resource
from lakehold.catalog import details, kinds, resources
from lakehold.catalog.details import Detail
from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.errors import ConflictError, NotFoundError
from lakehold.kit.ids import folded, shown
from lakehold.pipeline.lake import Lake, Place
from lakehold.pipeline.names import READABLE
from lakehold.runs.runnable import Wanted
from lakehold.runs.runs import Run, Runs
from lakehold.workspaces.ends import starts
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.pipelines.upkeep import DO, RESTORE

_MOST, _LOOKED_AT = 50, 1_000
"""How many are told of, and among how many they are looked for: of each, it is asked who could delete it then."""


class _Ended(NamedTuple):
    """What is known of a resource that is no more."""

    id: int
    uid: str
    name: str
    until: Moment


@dataclass(frozen=True, slots=True)
class Dropped:
    """A table that was deleted, and whose rows are there."""

    number: int
    uid: str
    name: str
    layer: str
    dropped_at: Moment
    held: tuple[tuple[str, str], ...] = ()
    """Who held which level on the table itself, of those who are still here."""


def dropped(work: Work, lake: Lake, within: str = "") -> list[Dropped]:
    """Those that the caller may restore, of the last that were deleted, the newest first: in all lakehouses, or one."""
    found = (_seen(work, row) for row in _ended(work, lake)[:_LOOKED_AT])
    seen = (each for each in found if each is not None)
    inside = (each for each in seen if not within or kinds.workspace_of(work.view, each.layer) == within)
    return list(islice(inside, _MOST))


def restore(work: Work, lake: Lake, uid: str, name: str = "") -> tuple[str, Run]:
    """Make the table anew, and let a run bring its rows back."""
    work.writing()
    row = next((each for each in _ended(work, lake) if each.uid == uid), None)
    found = None if row is None else _seen(work, row)
    if found is None:
        raise NotFoundError(
            f"There is no deleted table {shown(uid)}.", "Its rows may be gone by now; look in the list."
        )
    wanted = name or found.name
    if folded(wanted) in {folded(each) for each in _names(work, found.layer)}:
        raise ConflictError(f"There is a table {shown(wanted)} in the layer already.", "Restore it under another name.")
    about = details.read_many(work, [found.number]).get(found.number, Detail()).description
    made = resources.create(work, TABLE, wanted, edges={"layer": found.layer}, description=about)
    told = {DO: RESTORE, "number": found.number}
    return made, Runs(workspaces.runnables()).start(work, made, Wanted(parameters=told))


def gone(house: Installation) -> list[Place]:
    """What was deleted so long ago that its rows may go too, in all tenants: tables, and data marts."""
    lake, found = Lake(house.settings), list[Place]()
    until = house.clock() - house.settings.dropped_days * DAY
    try:
        for tenant in tenants.every(house):
            with house.read(Caller(tenant.uid, "", address="worker")) as work:
                old = (row for row in _ended(work, lake, READABLE) if row.until < until)
                found += [Place(work.session.tenant, row.id) for row in old]
    finally:
        lake.close()
    return found


def _ended(work: Work, lake: Lake, of: Collection[str] = (TABLE,)) -> list[_Ended]:
    """What ended of these kinds and whose rows are there, the last first."""
    uids = work.view.uids
    numbers = [place.number for place in lake.places(work.session.tenant) if uids.get(place.number) is None]
    c = resource.c
    found: list[_Ended] = []
    for start in range(0, len(numbers), 500):
        some = sa.and_(c.tenant_id == work.session.tenant, c.id.in_(numbers[start : start + 500]), c.until < FOREVER)
        query = sa.select(c.id, c.uid, c.name, c.until).where(some, c.kind.in_(of))
        found += [_Ended(*row) for row in work.session.transaction.connection.execute(query)]
    return sorted(found, key=lambda row: -row.until)


def _seen(work: Work, row: _Ended) -> Dropped | None:
    """The table, if the caller could delete it then and may make one in its layer now."""
    then = work.session.as_of(row.until - 1)
    if not then.check(work.asker, "delete", row.uid):
        return None
    layer = next(iter(then.asking(lambda view: [view.uid(end) for end in view.out["layer"].get(row.id) or ()])), "")
    if work.view.ids.get(layer) is None or not work.session.check(work.asker, "create_table", layer):
        return None
    return Dropped(row.id, row.uid, row.name, layer, row.until, _held(work, row))


def _held(work: Work, row: _Ended) -> tuple[tuple[str, str], ...]:
    found = spans.on(work.session.transaction, work.session.tenant, row.id, row.until - 1)
    there = [(work.view.uids.get(each.subject), each.role) for each in found if each.since < row.until]
    return tuple(sorted((subject, role) for subject, role in there if subject is not None))


def _names(work: Work, layer: str) -> Iterator[str]:
    for each in starts(work, layer, "layer"):
        yield work.view.names.get(work.view.resource(each)) or ""
