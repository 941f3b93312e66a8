"""Brings a project into the state of a row. It sets up the resources, how they are shared, and Ann's roles."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.access import Add, Attribute, Grant
from lakehold.catalog import credentials, resources, workspaces
from lakehold.directory.request_context import RequestContext
from tests.golden.flows.acme import ANN, OLGA, AcmeSite
from tests.golden.flows.project import FlowProject
from tests.golden.marts_world import ENTIRE, FIRST_TOGGLE, HELD, TOGGLES, Seat

SECRETS = {"password": "nobody should read this"}
NORTH = {"project": "sales", "contexts": "north"}
TABLE = {"by": "table", "table": "public.orders"}
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


def set_up_project(acme: AcmeSite, seat: Seat, scope: str, thing: str, state: str = "") -> FlowProject:
    """Return a project with the resource that a row is about, shared as the row says, and Ann in her seat. The
    project of the
    row before is reused if it is unchanged.
    """
    if (acme.row, acme.is_used) == ((seat, scope, thing, state), False):
        return FlowProject(acme, acme.number)
    place = FlowProject(acme, acme.number + 1)
    with acme.write() as ctx:
        _leave_projects(ctx, acme)
        _create_resources(ctx, place, NEEDS[thing])
        _join_project(ctx, place, seat.role, scope)
        for name, role in seat.owns.items():
            ctx.make(Add(Grant(ANN, role, place[name])))
        for name, how in {**seat.shared, **({thing: state} if state else {})}.items():
            for toggle, on in zip((FIRST_TOGGLE[name], "shared_for_maintenance"), TOGGLES[how], strict=True):
                _set_toggle(ctx, place[name], toggle, on=on)
        _set_toggle(ctx, place["sheet"], "deleted", on=seat.deleted)
    acme.number, acme.row, acme.is_used = place.number, (seat, scope, thing, state), False
    return place


def _leave_projects(ctx: RequestContext, acme: AcmeSite) -> None:
    """Remove Ann from other projects, so that her pages do not list them."""
    before = FlowProject(acme, acme.number)["sales"]
    if acme.number and ANN in {each.subject.uid for each in workspaces.members(ctx, before)}:
        workspaces.remove_member(ctx, before, ANN)


def _create_resources(ctx: RequestContext, place: FlowProject, names: tuple[str, ...]) -> None:
    workspaces.create(ctx, "marts", f"Sales {place.number}", uid=place["sales"])
    for name in ("north", *names):
        _create_resource(ctx, place, name)
        if name in SECRET:
            credentials.save(ctx, place[name], dict(SECRETS))
    for name, role, member in GIVEN:
        if name in names:
            ctx.make(Add(Grant(member, role, place[name])))


def _create_resource(ctx: RequestContext, place: FlowProject, name: str) -> None:
    kind, settings, edges = THINGS[name]
    managed = {"published": True} if kind == "data_mart" else None
    ends = {edge: place[end] for edge, end in edges.items()}
    resources.create(ctx, f"marts.{kind}", name, uid=place[name], edges=ends, settings=settings, managed=managed)


def _join_project(ctx: RequestContext, place: FlowProject, role: str, scope: str) -> None:
    ctx.make(Add(Grant(ANN, role, place["sales"])))
    if scope != ENTIRE:
        ctx.make(Add(Attribute(place["sales"], "scope", "selected_contexts", ANN)))
    for context in HELD[scope]:
        if context == "south":
            _create_resource(ctx, place, "south")
        ctx.make(Add(Grant(ANN, "holder", place[context])))


def _set_toggle(ctx: RequestContext, uid: str, attribute: str, *, on: bool) -> None:
    if on:
        ctx.make(Add(Attribute(uid, attribute, "true")))
