"""Listings and who, worked out by SQLite and by PostgreSQL, beside oso and beside SQLite alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.facts import MOST, SEEN, SOME, TENANT
from benchmarks.figures import Figure, Sample, p50
from benchmarks.world import World
from lakehold.access.session import AccessSession

_MS = 1e-3
_REPEATS = 25
TABLE, QUERY = "lakehouse.table", "lakehouse.query"

LIST_NOTE = (
    "Listing: casbin and cedarpy make no SQL; oso is given its two alternatives as two queries and SQL unites them,"
    " because as one policy its adapter answers wrongly (inner joins lose rows)."
)
PIPELINE_NOTE = (
    "Pipelines: oso's data filtering has no forall(), casbin and cedarpy make no SQL: nobody to compare with."
)
WHO_NOTE = "who, explain and what_if: none of the three peers has them."


def agree(world: World) -> None:
    """Check that all contenders list the same."""
    names = {number: uid for uid, number in world.databases["SQLite"].numbers.items()}
    for member, count in SEEN.items():
        floor = {names[number] for number in world.floor.tables(member)}
        first = [uid for _, uid, _ in world.floor.table_page(member)]
        assert len(floor) == count, (member, len(floor))
        for database, loaded in world.databases.items():
            known = {number: uid for uid, number in loaded.numbers.items()}
            with loaded.access.read(TENANT) as session:
                assert {known[number] for number in session.ids(member, "see", TABLE)} == floor, (database, member)
                assert [found.uid for found in session.list(member, "see", TABLE).items] == first, (database, member)
                pipelines = {known[number] for number in session.ids(member, "see", QUERY)}
                assert pipelines == {names[number] for number in world.floor.pipelines(member)}, (database, member)
                page = [found.uid for found in session.list(member, "see", QUERY).items]
                assert page == [uid for _, uid, _ in world.floor.pipeline_page(member)], (database, member)
                assert session.who("read", world.questions.wide[0]) == world.floor.who(world.questions.wide[0])
            listing = world.oso[database]
            assert {f"t{number:05}" for number in listing.ids(member)} == floor, (database, member)
            assert listing.page(member) == first, (database, member)


def figures(world: World) -> Iterator[Figure]:
    """The figures of list and who."""
    for database, page, ids in (("SQLite", 2 * _MS, 15 * _MS), ("PostgreSQL", 5 * _MS, 25 * _MS)):
        for member, count in SEEN.items():
            yield _page(world, database, member, f"list {count:,} of 100,000, first page of 50, {database}", page)
            yield _ids(world, database, member, f"list {count:,} of 100,000, all ids, {database}", ids)
    for database in world.databases:
        for member in (SOME, MOST):
            yield from _pipelines(world, database, member)
    for database in world.databases:
        yield _who(world, database)


def _ours(world: World, database: str, ask: Callable[[AccessSession], object]) -> Sample:
    def sample() -> float:
        with world.databases[database].access.read(TENANT) as session:
            return p50(ask, [(session,)] * _REPEATS)

    return sample


def _rival(ask: Callable[[str], object], member: str) -> Sample:
    return lambda: p50(ask, [(member,)] * _REPEATS)


def _page(world: World, database: str, member: str, name: str, most: float) -> Figure:
    return Figure(
        name,
        _ours(world, database, lambda session: session.list(member, "see", TABLE)),
        {"oso": _rival(world.oso[database].page, member)},
        _floor(database, world.floor.table_page, member),
        most=most,
        times=4,
        note=LIST_NOTE,
    )


def _ids(world: World, database: str, member: str, name: str, most: float) -> Figure:
    return Figure(
        name,
        _ours(world, database, lambda session: session.ids(member, "see", TABLE)),
        {"oso": _rival(world.oso[database].ids, member)},
        _floor(database, world.floor.tables, member),
        most=most,
        times=4,
        note=LIST_NOTE,
    )


def _floor(database: str, ask: Callable[[str], object], member: str) -> dict[str, Sample]:
    return {"SQLite alone": _rival(ask, member)} if database == "SQLite" else {}


def _pipelines(world: World, database: str, member: str) -> Iterator[Figure]:
    name = f"list pipelines (every()) as {member} sees them"
    yield Figure(
        f"{name}, first page of 50, {database}",
        _ours(world, database, lambda session: session.list(member, "see", QUERY)),
        floor=_floor(database, world.floor.pipeline_page, member),
        most=20 * _MS,
        note=PIPELINE_NOTE,
    )
    yield Figure(
        f"{name}, all ids, {database}",
        _ours(world, database, lambda session: session.ids(member, "see", QUERY)),
        floor=_floor(database, world.floor.pipelines, member),
        most=80 * _MS,
        note=PIPELINE_NOTE,
    )


def _who(world: World, database: str) -> Figure:
    tables = world.questions.wide

    def ours() -> float:
        with world.databases[database].access.read(TENANT) as session:
            return p50(lambda uid: session.who("read", uid), [(uid,) for uid in tables])

    floor = {"SQLite alone": lambda: p50(world.floor.who, [(uid,) for uid in tables])} if database == "SQLite" else {}
    return Figure(f"who may read a table, {database}", ours, floor=floor, most=10 * _MS, note=WHO_NOTE)
