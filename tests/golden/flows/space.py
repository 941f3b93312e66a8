"""A data space of one seat on the platform, as `spaces_world.sales` is in memory.

Stella owns the space, Paul what lies in it: he holds Can edit, so that tasks run. Ann sits in the seats of the space;
those with a tenant or security role are called by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakehold import workspaces as ways_of_working
from lakehold.access import Add, Draft, Edge, Grant
from lakehold.catalog import ownership, resource_metadata, resources, workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.kit.errors import NotFoundError
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Runs
from lakehold.workspaces.spaces.datasets import PREPARED, fingerprint
from tests.golden.flows.acme import ANN, TENANT, AcmeSite

STELLA, PAUL, NOBODY = "stella", "paul", "nobody"
SECURITY_ROLES = ("admin", "data_admin", "data_space_creator")
OWNER = "owner"
RUNS = Runs(ways_of_working.runnables())
QUERY = {"type": "transform", "datasets": [{"name": "one", "sql": "SELECT 1 AS one"}]}
CONNECTION = {"connector": "database", "address": "jdbc:postgresql://db.acme.test/shop", "user": "reader"}
PARENTS = {"spaces.project": "space", "spaces.task": "project", "spaces.connection": "space", "spaces.gateway": "space"}


@dataclass(frozen=True, slots=True)
class SpaceSeat:
    """Who acts: Ann with roles in the space, or somebody with a role in the tenant."""

    roles: tuple[str, ...] = ()
    who: str = ANN


@dataclass(frozen=True, slots=True)
class FlowSpace:
    """A data space and what lies in it, by the names of `spaces_world`, as Olga sees it."""

    acme: AcmeSite
    number: int
    seat: SpaceSeat

    def __getitem__(self, name: str) -> str:
        return f"{name}_{self.number}"

    def add(
        self, kind: str, name: str, parent: str, settings: Mapping[str, object] | None = None, *, by: str = PAUL
    ) -> str:
        """One more resource."""
        edges = {PARENTS[kind]: self[parent]}
        with self.acme.write(by) as ctx:
            return resources.create(ctx, kind, name, uid=self[name], edges=edges, settings=settings or {})

    def load(self, name: str) -> ResourceView:
        """How it is."""
        with self.acme.read() as ctx:
            return resources.get(ctx, self[name])

    def is_gone(self, name: str) -> bool:
        """Whether it is no more."""
        try:
            self.load(name)
        except NotFoundError:
            return True
        return False

    def owner(self, name: str) -> str:
        """Who owns it."""
        return "".join(each.uid for each in self.load(name).owners[OWNER])

    def holds(self, member: str, role: str, name: str = "sales") -> bool:
        """Whether somebody holds a role."""
        with self.acme.read() as ctx:
            return Grant(member, role, self[name]) in ctx.grants(self[name])

    def give(self, member: str, role: str, name: str = "sales") -> None:
        """Let somebody hold a role from now on."""
        with self.acme.platform.access.write(TENANT) as session:
            session.store.add(Grant(member, role, self[name]))

    def take(self, member: str, role: str, name: str = "sales") -> None:
        """Let somebody hold a role no longer."""
        with self.acme.platform.access.write(TENANT) as session:
            session.store.remove(Grant(member, role, self[name]))

    def point(self, name: str, edge: str, end: str) -> None:
        """Let a thing use another one."""
        with self.acme.platform.access.write(TENANT) as session:
            session.store.add(Edge(edge, self[name], self[end]))

    def runs(self, name: str, by: str = STELLA) -> set[str]:
        """The ids of the runs of a thing."""
        with self.acme.read(by) as ctx:
            return {each.id for each in RUNS.page(ctx, resource=self[name])}

    def start(self, name: str, *, stopped: bool = False) -> str:
        """Insert a run."""
        with self.acme.write() as ctx:
            run = RUNS.insert(ctx, self[name], RunOptions(), cause=MANUAL_CAUSE)
        if stopped:
            with self.acme.write(STELLA if self.owner("sales") == STELLA else ANN) as ctx:
                RUNS.stop(ctx, run)
        return run

    def state(self, run: str) -> str:
        """How far a run is."""
        with self.acme.read() as ctx:
            return RUNS.get(ctx, run).state

    def prepare(self, name: str) -> None:
        """Let a task be ready to run, as the worker would."""
        with self.acme.write() as ctx:
            stored = resource_metadata.load(ctx, self[name]).settings
            resource_metadata.save_managed(ctx, self[name], {PREPARED: {"fingerprint": fingerprint(stored), "at": 1}})

    def delete(self, name: str) -> None:
        """End it, if it is still there."""
        if not self.is_gone(name):
            self.end(self[name])

    def clear(self, kind: str, name: str) -> bool:
        """End what somebody has made here; whether there was anything."""
        with self.acme.read() as ctx:
            found = resources.find(ctx, among=[f"spaces.{kind}"], within=self["sales"], search=name).items
        for each in found:
            self.end(each.uid)
        return bool(found)

    def end(self, uid: str) -> None:
        """Delete it."""
        with self.acme.write() as ctx:
            resources.delete(ctx, uid)


def add_people(acme: AcmeSite) -> None:
    """Add the members of the seats."""
    with acme.platform.access.write(TENANT) as session:
        for member in (STELLA, PAUL, NOBODY, *SECURITY_ROLES):
            session.store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        for role in SECURITY_ROLES:
            session.store.add(Grant(role, role, TENANT))


def set_up_space(acme: AcmeSite, seat: SpaceSeat) -> FlowSpace:
    """Return a data space with a project, a task that is ready to run, a connection and a gateway."""
    acme.number += 1
    place = FlowSpace(acme, acme.number, seat)
    with acme.write() as ctx:
        workspaces.create(ctx, "spaces", f"Sales {place.number}", uid=place["sales"])
        ownership.transfer_role(ctx, place["sales"], OWNER, ANN if OWNER in seat.roles else STELLA)
        ctx.make(Add(Grant(PAUL, "can_edit", place["sales"])))
        ctx.make(Add(Grant(PAUL, "can_manage", place["sales"])))
        for role in seat.roles:
            if role != OWNER:
                ctx.make(Add(Grant(ANN, role, place["sales"])))
    place.add("spaces.project", "crm", "sales")
    place.add("spaces.task", "load", "crm", QUERY)
    with acme.write() as ctx:
        ctx.create_unchecked(Draft("spaces.dataset", {"task": place["load"]}), "one")
    place.prepare("load")
    place.add("spaces.connection", "erp", "sales", CONNECTION)
    place.add("spaces.gateway", "edge", "sales")
    return place
