"""How a project comes to be as a row says: its things, how they are shared, and Ann in her seat."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.access import Add, Attribute, Grant
from lakehold.catalog import credentials, resources, workspaces
from lakehold.directory.request_context import RequestContext
from tests.golden.flows.place import Place
from tests.golden.flows.town import ANN, OLGA, Town
from tests.golden.marts_world import ENTIRE, FIRST_TOGGLE, HELD, TOGGLES, Seat

SECRETS = {"password": "nobody should read this"}
NORTH = {"project": "sales", "contexts": "north"}
TABLE = {"by": "table", "table": "public.orders", "published": True}
THINGS: Mapping[str, tuple[str, Mapping[str, object], Mapping[str, str]]] = {
    "north": ("context", {}, {"project": "sales"}),
    "south": ("context", {}, {"project": "sales"}),
    "warehouse": (
        "storage",
        {"kind": "database", "address": "jdbc:postgresql://db.acme.test/shop", "user": "reader", "schemas": []},
        NORTH,
    ),
    "orders": ("data_mart", TABLE, {"storage": "warehouse", **NORTH}),
    "mine": ("data_mart", TABLE, {"storage": "warehouse", "project": "sales"}),
    "sheet": ("destination", {"to": "webhook", "address": "https://localhost/in"}, NORTH),
    "post": ("destination", {"to": "files", "kind": "csv"}, {"project": "sales"}),
    "weekly": ("report", {}, {"data_mart": "orders", "destination": "sheet"}),
}
"""Kind, settings and edges. `mine` and `post` are a mart and a destination that Ann may use whatever a row says."""
NEEDS = {
    "warehouse": ("warehouse",),
    "orders": ("warehouse", "orders", "post"),
    "sheet": ("warehouse", "orders", "mine", "sheet", "weekly"),
    "weekly": ("warehouse", "orders", "sheet", "post", "weekly"),
}
"""What there has to be for all that can be done with a thing."""
GIVEN = (("mine", "business_owner", ANN), ("post", "owner", ANN), ("orders", "business_owner", OLGA))
SECRET = ("warehouse", "sheet")


def placed(town: Town, seat: Seat, scope: str, thing: str, state: str = "") -> Place:
    """A project with the thing that a row is about, shared like this, and Ann in this seat: the one of before if it is
    such a one still.
    """
    if (town.row, town.spent) == ((seat, scope, thing, state), False):
        return Place(town, town.number)
    place = Place(town, town.number + 1)
    with town.write() as ctx:
        _leave(ctx, town)
        _furnish(ctx, place, NEEDS[thing])
        _join(ctx, place, seat.role, scope)
        for name, role in seat.owns.items():
            ctx.make(Add(Grant(ANN, role, place[name])))
        for name, how in {**seat.shared, **({thing: state} if state else {})}.items():
            for toggle, on in zip((FIRST_TOGGLE[name], "shared_for_maintenance"), TOGGLES[how], strict=True):
                _switch(ctx, place[name], toggle, on=on)
        _switch(ctx, place["sheet"], "deleted", on=seat.deleted)
    town.number, town.row, town.spent = place.number, (seat, scope, thing, state), False
    return place


def _leave(ctx: RequestContext, town: Town) -> None:
    """Ann is in one project at a time: her pages need not name those of other rows."""
    before = Place(town, town.number)["sales"]
    if town.number and ANN in {each.subject.uid for each in workspaces.members(ctx, before)}:
        workspaces.remove_member(ctx, before, ANN)


def _furnish(ctx: RequestContext, place: Place, names: tuple[str, ...]) -> None:
    workspaces.create(ctx, "marts", f"Sales {place.number}", uid=place["sales"])
    for name in ("north", *names):
        _make(ctx, place, name)
        if name in SECRET:
            credentials.save(ctx, place[name], dict(SECRETS))
    for name, role, member in GIVEN:
        if name in names:
            ctx.make(Add(Grant(member, role, place[name])))


def _make(ctx: RequestContext, place: Place, name: str) -> None:
    kind, settings, edges = THINGS[name]
    ends = {edge: place[end] for edge, end in edges.items()}
    resources.create(ctx, f"marts.{kind}", name, uid=place[name], edges=ends, settings=settings)


def _join(ctx: RequestContext, place: Place, role: str, scope: str) -> None:
    ctx.make(Add(Grant(ANN, role, place["sales"])))
    if scope != ENTIRE:
        ctx.make(Add(Attribute(place["sales"], "scope", "selected_contexts", ANN)))
    for context in HELD[scope]:
        if context == "south":
            _make(ctx, place, "south")
        ctx.make(Add(Grant(ANN, "holder", place[context])))


def _switch(ctx: RequestContext, uid: str, attribute: str, *, on: bool) -> None:
    if on:
        ctx.make(Add(Attribute(uid, attribute, "true")))
