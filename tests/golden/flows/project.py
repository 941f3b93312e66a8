"""The project of one row on the platform, as `Sales` is in memory."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold import workspaces
from lakehold.access import Add, Attribute, Edge, Grant, Remove
from lakehold.catalog import credentials, resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.kit.errors import NotFoundError
from lakehold.runs.scheduler.service import Trigger, Triggers
from lakehold.runs.service import Run, Runs
from tests.golden.flows.acme import ANN, AcmeSite

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)


@dataclass(frozen=True, slots=True)
class FlowProject:
    """One project and its resources, by the names of `marts_world`, seen as Olga."""

    acme: AcmeSite
    number: int

    def __getitem__(self, name: str) -> str:
        return f"{name}_{self.number}"

    def load(self, name: str) -> ResourceView:
        """How it is."""
        with self.acme.read() as ctx:
            return resources.get(ctx, self[name])

    def is_gone(self, name: str) -> bool:
        """Whether it is no more, or deleted."""
        try:
            return self.load(name).attributes.get("deleted") == "true"
        except NotFoundError:
            return True

    def secrets(self, name: str) -> dict[str, str]:
        """What is kept of it."""
        with self.acme.read() as ctx:
            return credentials.load_for_use(ctx, self[name])

    def inside(self, kind: str) -> set[str]:
        """The names of all things of a kind here."""
        with self.acme.read() as ctx:
            return {item.name for item in resources.find(ctx, among=[f"marts.{kind}"], within=self["sales"]).items}

    def clear(self, kind: str, name: str) -> None:
        """Take away what somebody has made here."""
        with self.acme.write() as ctx:
            for item in resources.find(ctx, among=[f"marts.{kind}"], within=self["sales"], search=name).items:
                resources.delete(ctx, item.uid)

    def triggers(self, name: str) -> list[Trigger]:
        """Those of a thing."""
        with self.acme.read() as ctx:
            return TRIGGERS.for_resource(ctx, self[name])

    def unschedule(self, triggers: set[str]) -> None:
        """End triggers."""
        if triggers:
            with self.acme.write() as ctx:
                for each in triggers:
                    TRIGGERS.delete(ctx, each)

    def runs(self, name: str) -> list[Run]:
        """Those of a thing, the newest first."""
        with self.acme.read() as ctx:
            return RUNS.page(ctx, resource=self[name])

    def state(self, run: str) -> str:
        """How far a run is."""
        with self.acme.read() as ctx:
            return RUNS.get(ctx, run).state

    def give(self, name: str, role: str, member: str = ANN) -> None:
        """Somebody holds a role from now on."""
        with self.acme.write() as ctx:
            ctx.make(Add(Grant(member, role, self[name])))

    def set(self, name: str, **attributes: bool) -> None:
        """Attributes of a thing."""
        with self.acme.write() as ctx:
            for attribute, value in attributes.items():
                ctx.make(Add(Attribute(self[name], attribute, str(value).lower())))

    def label(self, name: str, context: str) -> None:
        """Put a thing into a context."""
        with self.acme.write() as ctx:
            ctx.make(Add(Edge("contexts", self[name], self[context])))

    def unlabel(self, name: str, context: str) -> None:
        """Take a thing out of a context."""
        with self.acme.write() as ctx:
            ctx.make(Remove(Edge("contexts", self[name], self[context])))

    def add_context(self, name: str) -> None:
        """One more context."""
        with self.acme.write() as ctx:
            resources.create(ctx, "marts.context", name, uid=self[name], edges={"project": self["sales"]})
