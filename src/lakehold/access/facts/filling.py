"""Fills a new view with half a million rows: the same as opening one after the other, with nothing around each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from sys import intern
from typing import Any

from lakehold.access.facts.view import AttributeRow, GrantRow, ModelRow, View, role_bit

Values = Sequence[tuple[Any, ...]]
"""The columns of rows, in the order of the row's class."""


@cache
def plain(name: str) -> str:
    """`viewer` of `lakehouse.table.viewer`: roles and edges are kept with the kind that has them."""
    return name.rpartition(".")[2]


def _resources(view: View, rows: Values) -> None:
    kinds, uids, names, ids = view.kinds.put, view.uids.put, view.names.put, view.ids.put
    members = {kind: view.of_kind.own(kind) for kind in {row[2] for row in rows}}
    for number, uid, kind, name in rows:
        kinds(number, intern(kind))
        uids(number, uid)
        names(number, name)
        ids(uid, number)
        members[kind][number] = None


def _grants(view: View, rows: Values) -> None:
    bits = {role: role_bit(plain(role)) for role in {row[1] for row in rows}}
    on, by = view.grants.outer, view.held.outer
    for subject, role, resource in rows:
        bit = bits[role]
        there, held = on.get(resource), by.get(subject)
        if there is None:
            on.put(resource, there := {})
        if held is None:
            by.put(subject, held := {})
        before = there.get(subject)
        if before is None:
            there[subject] = held[resource] = bit
        else:
            _again(view, GrantRow(subject, plain(role), resource), before, bit)


def _again(view: View, row: GrantRow, before: int, bit: int) -> None:
    if before & bit:
        view.open(row)
    else:
        view.grants.own(row.resource)[row.subject] = view.held.own(row.subject)[row.resource] = before | bit


def _edges(view: View, rows: Values) -> None:
    maps = {name: (view.out[plain(name)], view.back[plain(name)].outer) for name in {row[0] for row in rows}}
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


def _attributes(view: View, rows: Values) -> None:
    for row in rows:
        view.open(AttributeRow(*row))


def _models(view: View, rows: Values) -> None:
    for row in rows:
        view.open(ModelRow(*row))


FILL: dict[str, Callable[[View, Values], None]] = {
    "model": _models,
    "resource": _resources,
    "edge": _edges,
    "attribute": _attributes,
    "grant": _grants,
}
"""Opens rows of one sort in a view that lies on no other."""
