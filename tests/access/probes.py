"""Every entry point at which a text, a number or a record comes into the engine from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakehold.access import AccessSession, Add, Adopt, Attribute, Draft, Edge, Grant, Remove, TokenPrincipal
from tests.access.company import TENANT

TABLE = "lakehouse.table"
LAYER = "lakehouse.layer"

Call = Callable[[AccessSession, Any], object]


@dataclass(frozen=True, slots=True)
class Probe:
    """A call with one value left open. `fine` tells which values are valid."""

    name: str
    call: Call
    fine: Callable[[object], bool] = lambda _value: False
    writes: bool = False


def _is_empty(value: object) -> bool:
    return value is None or value in ([], (), {}, frozenset())


def _is_rows(value: object) -> bool:
    return value is None or (isinstance(value, list | tuple | frozenset) and all(isinstance(v, str) for v in value))


def _is_time(value: object) -> bool:
    return value is None or type(value) is int


def _mapping_with_key(value: Any, to: str, **others: str) -> Any:  # noqa: ANN401 - whatever a test puts there
    """A mapping with this key, if it can be one at all."""
    try:
        return {**others, value: to}
    except TypeError:
        return {**others, "nope": to}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_none(value: object) -> bool:
    return value is None


ASKING = [
    Probe("check principal", lambda s, v: s.check(v, "see", "orders")),
    Probe("check action", lambda s, v: s.check("ann", v, "orders")),
    Probe("check resource", lambda s, v: s.check("ann", "see", v)),
    Probe("check role", lambda s, v: s.check("ann", "give", "orders", role=v), _is_none),
    Probe("check verb with a role", lambda s, v: s.check("ann", v, "orders", role="viewer")),
    Probe("check edges", lambda s, v: s.check("ann", "move", "orders", edges=v), _is_empty),
    Probe("check edge name", lambda s, v: s.check("ann", "move", "orders", edges=_mapping_with_key(v, "bronze"))),
    Probe("check edge end", lambda s, v: s.check("ann", "move", "orders", edges={"layer": v}), _is_empty),
    Probe("check edge ends", lambda s, v: s.check("ann", "move", "orders", edges={"layer": [v]})),
    Probe("check draft kind", lambda s, v: s.check("ann", "create", Draft(v, {"layer": "bronze"}))),
    Probe("check draft verb", lambda s, v: s.check("ann", v, Draft(TABLE, {"layer": "bronze"}))),
    Probe("check draft principal", lambda s, v: s.check(v, "create", Draft(TABLE, {"layer": "bronze"}))),
    Probe("check draft edges", lambda s, v: s.check("ann", "create", Draft(TABLE, v))),
    Probe("check draft edge", lambda s, v: s.check("ann", "create", Draft(TABLE, _mapping_with_key(v, "bronze")))),
    Probe("check draft end", lambda s, v: s.check("ann", "create", Draft(TABLE, {"layer": v}))),
    Probe(
        "check draft attribute",
        lambda s, v: s.check("ann", "create", Draft(TABLE, {"layer": "bronze"}, _mapping_with_key(v, "x"))),
    ),
    Probe(
        "check draft value",
        lambda s, v: s.check("ann", "create", Draft("spaces.space", {"tenant": TENANT}, {"personal": v})),
        lambda value: isinstance(value, bool),
    ),
    Probe("check many", lambda s, v: s.check_many([("ann", "see", v)])),
    Probe("actions principal", lambda s, v: s.actions(v, "orders")),
    Probe("actions resource", lambda s, v: s.actions("ann", v)),
    Probe("explain principal", lambda s, v: s.explain(v, "see", "orders")),
    Probe("explain action", lambda s, v: s.explain("ann", v, "orders")),
    Probe("explain resource", lambda s, v: s.explain("ann", "see", v)),
    Probe("explain viewer", lambda s, v: s.explain("ann", "see", "orders", viewer=v), _is_none),
    Probe("who action", lambda s, v: s.who(v, "orders")),
    Probe("who resource", lambda s, v: s.who("see", v)),
    Probe("as of", lambda s, v: s.as_of(v).check("ann", "see", "orders"), lambda value: type(value) is int),
    Probe("token member", lambda s, v: s.check(TokenPrincipal(v), "see", "orders")),
    Probe("token member of a listing", lambda s, v: s.list(TokenPrincipal(v, frozenset({"read"})), "see", TABLE)),
    Probe("token actions", lambda s, v: s.check(TokenPrincipal("ann", v), "see", "orders"), _is_rows),
    Probe("token resources", lambda s, v: s.check(TokenPrincipal("ann", None, v), "see", "orders"), _is_rows),
]

LISTING = [
    Probe("list principal", lambda s, v: s.list(v, "see", TABLE)),
    Probe("list action", lambda s, v: s.list("ann", v, TABLE)),
    Probe("list kind", lambda s, v: s.list("ann", "see", v)),
    Probe("list within", lambda s, v: s.list("ann", "see", TABLE, within=v), _is_none),
    Probe("list search", lambda s, v: s.list("ann", "see", TABLE, search=v), _is_text),
    Probe("list sort", lambda s, v: s.list("ann", "see", TABLE, sort=v)),
    Probe("list after", lambda s, v: s.list("ann", "see", TABLE, after=v), _is_none),
    Probe("list limit", lambda s, v: s.list("ann", "see", TABLE, limit=v), lambda v: type(v) is int and 0 < v < 1_001),
    Probe("ids principal", lambda s, v: s.ids(v, "see", TABLE)),
    Probe("ids action", lambda s, v: s.ids("ann", v, TABLE)),
    Probe("ids kind", lambda s, v: s.ids("ann", "see", v)),
    Probe("ids within", lambda s, v: s.ids("ann", "see", TABLE, within=v), _is_none),
]

FACTS: list[tuple[str, Callable[[Any], Any]]] = [
    ("grant subject", lambda v: Grant(v, "viewer", "orders")),
    ("grant role", lambda v: Grant("bob", v, "orders")),
    ("grant resource", lambda v: Grant("bob", "viewer", v)),
    ("attribute resource", lambda v: Attribute(v, "plan", "starter")),
    ("attribute name", lambda v: Attribute(TENANT, v, "starter")),
    ("attribute value", lambda v: Attribute(TENANT, "plan", v)),
    ("membership", lambda v: Attribute("project", "scope", "entire_project", v)),
    ("edge name", lambda v: Edge(v, "orders", "bronze")),
    ("edge source", lambda v: Edge("layer", v, "bronze")),
    ("edge target", lambda v: Edge("layer", "orders", v)),
    ("fact", lambda v: v),
]


def _with(make: Callable[[Any], Any], call: Call) -> Call:
    return lambda session, value: call(session, make(value))


CHANGING = [
    Probe(f"{what} {name}", _with(make, call), writes=writes)
    for name, make in FACTS
    for what, call, writes in (
        ("check change adds", lambda s, fact: s.check_change("ann", Add(fact)), False),
        ("check change removes", lambda s, fact: s.check_change("ann", Remove(fact)), False),
        ("what if adds", lambda s, fact: s.what_if([Add(fact)]), False),
        ("what if removes", lambda s, fact: s.what_if([Remove(fact)]), False),
        ("store adds", lambda s, fact: s.store.add(fact), True),
        ("store removes", lambda s, fact: s.store.remove(fact), True),
    )
] + [
    Probe("check change principal", lambda s, v: s.check_change(v, Add(Grant("bob", "viewer", "orders")))),
    Probe("check change", lambda s, v: s.check_change("ann", v)),
    Probe("what if", lambda s, v: s.what_if([v])),
    Probe("what if all", lambda s, v: s.what_if(v), _is_empty),
    Probe("what if adopts", lambda s, v: s.what_if([Adopt(v)])),
]

WRITING = [
    Probe("create kind", lambda s, v: s.store.create(v, "New", edges={"layer": "bronze"}), writes=True),
    Probe("create name", lambda s, v: s.store.create(TABLE, v, edges={"layer": "bronze"}), _is_text, writes=True),
    Probe(
        "create id",
        lambda s, v: s.store.create(TABLE, "New", uid=v, edges={"layer": "bronze"}),
        lambda value: value is None or isinstance(value, str),
        writes=True,
    ),
    Probe("create edges", lambda s, v: s.store.create(TABLE, "New", edges=v), writes=True),
    Probe(
        "create edge",
        lambda s, v: s.store.create(TABLE, "New", edges=_mapping_with_key(v, "bronze", layer="bronze")),
        writes=True,
    ),
    Probe("create parent", lambda s, v: s.store.create(TABLE, "New", edges={"layer": v}), writes=True),
    Probe("create parents", lambda s, v: s.store.create(TABLE, "New", edges={"layer": [v]}), writes=True),
    Probe(
        "create ends",
        lambda s, v: s.store.create(TABLE, "New", edges={"layer": "bronze", "saved_from": v}),
        _is_empty,
        writes=True,
    ),
    Probe(
        "create attributes",
        lambda s, v: s.store.create(TABLE, "New", edges={"layer": "bronze"}, attributes=v),
        _is_empty,
        writes=True,
    ),
    Probe(
        "create attribute",
        lambda s, v: s.store.create(TABLE, "New", edges={"layer": "bronze"}, attributes=_mapping_with_key(v, "x")),
        writes=True,
    ),
    Probe(
        "create value",
        lambda s, v: s.store.create("spaces.space", "New", edges={"tenant": TENANT}, attributes={"personal": v}),
        lambda value: isinstance(value, bool),
        writes=True,
    ),
    Probe(
        "create creator",
        lambda s, v: s.store.create("spaces.space", "New", edges={"tenant": TENANT}, creator=v),
        _is_none,
        writes=True,
    ),
    Probe("delete", lambda s, v: s.store.delete(v), writes=True),
    Probe("make", lambda s, v: s.store.apply(v), writes=True),
    Probe("adopt", lambda s, v: s.store.apply(Adopt(v)), writes=True),
    Probe("since", lambda s, v: s.store.add(Grant("bob", "viewer", "orders"), since=v), _is_time, writes=True),
    Probe("until", lambda s, v: s.store.add(Grant("bob", "viewer", "orders"), until=v), _is_time, writes=True),
]

PROBES = [*ASKING, *LISTING, *CHANGING, *WRITING]
