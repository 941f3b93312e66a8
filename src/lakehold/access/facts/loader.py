"""Loads the facts of a tenant from the database into a view: half a million rows, with little overhead for each."""

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from sys import intern
from typing import Any, NamedTuple

import sqlalchemy as sa

from lakehold.access.facts.view import (
    AttributeRow,
    EdgeRow,
    FactRow,
    FactView,
    GrantRow,
    ModelRow,
    ResourceRow,
    role_bit,
)
from lakehold.access.model.policy import compile_policy
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import Transaction
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote, valid_id

FactValues = Sequence[tuple[Any, ...]]
"""The columns of rows, in the order of the row's class."""


@cache
def unqualified_name(name: str) -> str:
    """Return `viewer` of `lakehouse.table.viewer`: roles and edges are stored with the kind that has them."""
    return name.rpartition(".")[2]


def _fill_resources(view: FactView, rows: FactValues) -> None:
    kinds, uids, names, ids = view.kinds.put, view.uids.put, view.names.put, view.ids.put
    members = {kind: view.by_kind.own_inner(kind) for kind in {row[2] for row in rows}}
    for number, uid, kind, name in rows:
        kinds(number, intern(kind))
        uids(number, uid)
        names(number, name)
        ids(uid, number)
        members[kind][number] = None


def _fill_grants(view: FactView, rows: FactValues) -> None:
    bits = {role: role_bit(unqualified_name(role)) for role in {row[1] for row in rows}}
    on, by = view.grants.outer, view.grants_by_subject.outer
    for subject, role, resource in rows:
        bit = bits[role]
        there, held = on.get(resource), by.get(subject)
        if there is None:
            on.put(resource, there := {})
        if held is None:
            by.put(subject, held := {})
        if subject in there:
            view.open(GrantRow(subject, unqualified_name(role), resource))
        else:
            there[subject] = held[resource] = bit


def _fill_edges(view: FactView, rows: FactValues) -> None:
    maps = {
        name: (view.edges_out[unqualified_name(name)], view.edges_in[unqualified_name(name)].outer)
        for name in {row[0] for row in rows}
    }
    for name, source, target in rows:
        out, back = maps[name]
        ends = out.get(source)
        if ends is None:
            out.put(source, (target,))
        elif target in ends:
            continue
        else:
            out.put(source, (*ends, target))
        there = back.get(target)
        if there is None:
            back.put(target, {source: None})
        else:
            there[source] = None


_FILLERS: dict[str, Callable[[FactView, FactValues], None]] = {
    "resource": _fill_resources,
    "edge": _fill_edges,
    "grant": _fill_grants,
}
"""Opens many rows of one sort at once, in a view that lies on no other."""

_AT_ONCE = 10_000


def _to_resource_row(number: int, uid: str, kind: str, name: str) -> ResourceRow:
    return ResourceRow(number, uid, intern(kind), name)


def _to_edge_row(name: str, source: int, target: int) -> EdgeRow:
    return EdgeRow(unqualified_name(name), source, target)


def _to_grant_row(subject: int, role: str, resource: int) -> GrantRow:
    return GrantRow(subject, unqualified_name(role), resource)


_COLUMNS: dict[str, tuple[str, str, Callable[..., FactRow]]] = {
    "model": ("access_model", "name, source", ModelRow),
    "resource": ("resource", "id, uid, kind, name", _to_resource_row),
    "edge": ("access_edge", "name, source_id, target_id", _to_edge_row),
    "attribute": ("access_attribute", "resource_id, member_id, name, value", AttributeRow),
    "grant": ("access_grant", "subject_id, role, resource_id", _to_grant_row),
}


def _fact_as_json(array: str) -> str:
    # One look by key for each entry: joining the tables would make the database plan for them all each time.
    cases = (
        f"WHEN '{fact}' THEN (SELECT {array}(since, {columns}) FROM {table} WHERE id = c.fact_id)"  # noqa: S608
        for fact, (table, columns, _) in _COLUMNS.items()
    )
    return f"CAST(CASE c.fact {' '.join(cases)} END AS TEXT)"


FACT_AS_JSON = {"sqlite": _fact_as_json("json_array"), "postgresql": _fact_as_json("json_build_array")}
"""The fact of an entry `c` of the log, as an expression of each database."""


class TimedRow(NamedTuple):
    """A row of a view with the period in which it holds."""

    key: tuple[str, int]
    row: FactRow
    since: Moment
    until: Moment


def tenant_number(transaction: Transaction, uid: str) -> int:
    """Return the number of the tenant of this id."""
    found = transaction.connection.execute(
        sa.text("SELECT id FROM resource WHERE tenant_id = id AND uid = :uid"), {"uid": valid_id(uid, "tenant")}
    ).scalar()
    if found is None:
        raise NotFoundError(f"There is no tenant {quote(uid)}.")
    return int(found)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector: nothing that is loaded is garbage, and looking for it takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def load_rows(transaction: Transaction, tenant: int, at: Moment) -> Iterator[TimedRow]:
    """Yield every fact of the tenant that holds at this moment, or will."""
    for fact, (_, _, make) in _COLUMNS.items():
        for rows in _batches(transaction, fact, tenant, at):
            for number, since, until, *columns in rows:
                yield TimedRow((fact, number), make(*columns), since, until)


def parse_row(fact: str, fact_json: str) -> tuple[FactRow, Moment]:
    """Parse a fact that the database returned by `FACT_AS_JSON`, with the moment from which it holds."""
    since, *columns = json.loads(fact_json)
    return _COLUMNS[fact][2](*columns), since


TABLE_NAMES = {
    ResourceRow: "resource",
    GrantRow: "grant",
    AttributeRow: "attribute",
    EdgeRow: "edge",
    ModelRow: "model",
}


def to_columns(row: FactRow, kind_of: Callable[[int], str]) -> dict[str, object]:
    """Return a row of a view as it is stored: roles and edges with their kind, which saves SQL a join.

    The kind of a resource is asked for only where it is needed: while a tenant's models are stored one after the other,
    there is no view in which they fit together.
    """
    match row:
        case ResourceRow(_, uid, kind, _):
            return {"uid": uid, "kind": kind}
        case GrantRow(subject, role, resource):
            qualified = f"{kind_of(resource)}.{role}"
            return {"subject_id": subject, "role": qualified, "resource_id": resource}
        case AttributeRow(resource, member, name, value):
            return {"resource_id": resource, "member_id": member, "name": name, "value": value}
        case EdgeRow(name, source, target):
            qualified = f"{kind_of(source)}.{name}"
            return {"name": qualified, "source_id": source, "target_id": target}
        case ModelRow(name, source):
            return {"name": name, "source": source}


def to_row(fact: str, stored: sa.RowMapping) -> FactRow:
    """Return a stored fact as a row of a view."""
    _, columns, make = _COLUMNS[fact]
    return make(*(stored[name] for name in columns.split(", ")))


def load_into(view: FactView, transaction: Transaction, tenant: int, at: Moment) -> list[TimedRow]:
    """Open every fact of the tenant that holds at this moment in a view. Return those that begin or end after it."""
    timed: list[TimedRow] = []
    for fact, (_, _, make) in _COLUMNS.items():
        for rows in _batches(transaction, fact, tenant, at):
            live = [row[3:] for row in rows if row[1] <= at]
            if fact in _FILLERS:
                _FILLERS[fact](view, live)
            else:
                for columns in live:
                    view.open(make(*columns))
            timed.extend(
                TimedRow((fact, number), make(*columns), since, until)
                for number, since, until, *columns in rows
                if since > at or until < FOREVER
            )
    return timed


@cache
def _select_statement(fact: str) -> sa.TextClause:
    # Cached: SQLAlchemy takes as long to read a text that is new each time as the database to answer it.
    table, columns, _ = _COLUMNS[fact]
    # The texts are this module's own; what comes from outside is bound.
    which = "tenant_id = :tenant AND until > :at"
    return sa.text(f"SELECT id, since, until, {columns} FROM {table} WHERE {which} ORDER BY id")  # noqa: S608


def _batches(transaction: Transaction, fact: str, tenant: int, at: Moment) -> Iterator[FactValues]:
    """Yield rows as the driver gives them, without an object around each."""
    with transaction.connection.execute(_select_statement(fact), {"tenant": tenant, "at": at}) as result:
        while rows := result.cursor.fetchmany(_AT_ONCE):
            yield rows


def load_view(transaction: Transaction, tenant: int, at: Moment) -> FactView:
    """Load the facts as they are at a past or future moment, with the models of that moment."""
    view = FactView(compile_policy(()))
    with gc_paused():
        load_into(view, transaction, tenant, at)
    view.touch()
    return view
