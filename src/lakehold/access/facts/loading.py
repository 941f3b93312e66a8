"""Rows of the database as rows of a view."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

import sqlalchemy as sa

from lakehold.access.facts.filling import FILL, plain
from lakehold.access.facts.view import AttributeRow, EdgeRow, GrantRow, ModelRow, ResourceRow, Row, View
from lakehold.access.model.policy import policy_of
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote, valid_id

_AT_ONCE = 10_000
_HOLDS_OR_WILL = "tenant_id = :tenant AND until > :at"


def _resource(number: int, uid: str, kind: str, name: str) -> ResourceRow:
    return ResourceRow(number, uid, intern(kind), name)


def _edge(name: str, source: int, target: int) -> EdgeRow:
    return EdgeRow(plain(name), source, target)


def _grant(subject: int, role: str, resource: int) -> GrantRow:
    return GrantRow(subject, plain(role), resource)


_COLUMNS: dict[str, tuple[str, str, Callable[..., Row]]] = {
    "model": ("access_model", "name, source", ModelRow),
    "resource": ("resource", "id, uid, kind, name", _resource),
    "edge": ("access_edge", "name, source_id, target_id", _edge),
    "attribute": ("access_attribute", "resource_id, member_id, name, value", AttributeRow),
    "grant": ("access_grant", "subject_id, role, resource_id", _grant),
}


def _as_json(array: str) -> str:
    # One look by key for each entry: joining the tables would make the database plan for them all each time.
    told = (
        f"WHEN '{fact}' THEN (SELECT {array}(since, {columns}) FROM {table} WHERE id = c.fact_id)"  # noqa: S608
        for fact, (table, columns, _) in _COLUMNS.items()
    )
    return f"CAST(CASE c.fact {' '.join(told)} END AS TEXT)"


AS_JSON = {"sqlite": _as_json("json_array"), "postgresql": _as_json("json_build_array")}
"""The fact of an entry `c` of the log, as an expression of each database."""


class Spanned(NamedTuple):
    """A row of a view with the span of time in which it holds."""

    key: tuple[str, int]
    row: Row
    since: Moment
    until: Moment


def tenant_of(transaction: Transaction, uid: str) -> int:
    """The number of the tenant of this id."""
    found = transaction.connection.execute(
        sa.text("SELECT id FROM resource WHERE tenant_id = id AND uid = :uid"), {"uid": valid_id(uid, "tenant")}
    ).scalar()
    if found is None:
        raise NotFoundError(f"There is no tenant {quote(uid)}.")
    return int(found)


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing that is loaded is garbage: looking for it again and again takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def all_rows(transaction: Transaction, tenant: int, at: Moment) -> Iterator[Spanned]:
    """Every fact of the tenant that holds at this moment, or will."""
    for fact in _COLUMNS:
        yield from _read(transaction, fact, _HOLDS_OR_WILL, {"tenant": tenant, "at": at})


def row_of(fact: str, told: str) -> tuple[Row, Moment]:
    """The fact that the database told `AS_JSON`, with the moment from which it holds."""
    since, *columns = json.loads(told)
    return _COLUMNS[fact][2](*columns), since


def fill(view: View, transaction: Transaction, tenant: int, at: Moment) -> list[Spanned]:
    """Open every fact of the tenant that holds at this moment. Returns those that begin or end after it."""
    timed: list[Spanned] = []
    for fact, (_, _, make) in _COLUMNS.items():
        for rows in _batches(transaction, fact, _HOLDS_OR_WILL, {"tenant": tenant, "at": at}):
            FILL[fact](view, [row[3:] for row in rows if row[1] <= at])
            timed.extend(
                Spanned((fact, number), make(*columns), since, until)
                for number, since, until, *columns in rows
                if since > at or until < FOREVER
            )
    return timed


def _read(transaction: Transaction, fact: str, where: str, values: dict[str, Any]) -> Iterator[Spanned]:
    make = _COLUMNS[fact][2]
    for rows in _batches(transaction, fact, where, values):
        for number, since, until, *columns in rows:
            yield Spanned((fact, number), make(*columns), since, until)


@lru_cache(maxsize=100)
def _text(fact: str, where: str) -> sa.TextClause:
    table, columns, _ = _COLUMNS[fact]
    # The texts are this module's own; what comes from outside is bound.
    return sa.text(f"SELECT id, since, until, {columns} FROM {table} WHERE {where} ORDER BY id")  # noqa: S608


def _batches(
    transaction: Transaction, fact: str, where: str, values: dict[str, Any]
) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Rows as the driver gives them, without an object around each."""
    connection = transaction.connection
    # SQLAlchemy takes as long to read a text that is new each time as the database to answer it.
    query = _text(fact, where)
    with connection.execute(query, values) if values else connection.exec_driver_sql(query.text) as result:
        while rows := result.cursor.fetchmany(_AT_ONCE):
            yield rows


def view_at(transaction: Transaction, tenant: int, at: Moment) -> View:
    """The facts as they are at a past or future moment, with the models of that moment."""
    view = View(policy_of(()))
    with uncollected():
        fill(view, transaction, tenant, at)
    view.touch()
    return view
