"""A project of marts: Ed is its Technical User, Rita a Business User, Ada everybody's admin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from lakehold.access import Add, Attribute, Grant
from lakehold.catalog import credentials, resources
from lakehold.directory.caller import Caller
from lakehold.pipeline.lake import Place
from lakehold.pipeline.volumes import Volume
from lakehold.runs.runs import Run
from tests.pipeline.shop import ED, RITA, TENANT
from tests.workspaces.lakehouse.moving import RUNS, Moving

LAKE = "lake_storage"
SALES = "SELECT id, customer, amount, day FROM raw.orders"
_numbers = count()


@dataclass(slots=True)
class Project:
    """It, and what is made there."""

    moving: Moving

    def storage(self, name: str, settings: Mapping[str, object], secrets: dict[str, str] | None = None) -> str:
        """A storage of Ed's."""
        with self.moving.shop.house.write(ED) as work:
            uid = resources.create(
                work, "marts.storage", name, uid=_new(name), edges={"project": "sales"}, settings=settings
            )
            if secrets:
                credentials.put(work, uid, dict(secrets))
        return uid

    def mart(
        self, settings: Mapping[str, object], *, storage: str = LAKE, joins: tuple[str, ...] = (), name: str = ""
    ) -> str:
        """A data mart of Ed's, published and open for reports."""
        uid = _new("mart")
        with self.moving.shop.house.write(ED) as work:
            edges = {"project": "sales", "storage": storage, "joins": joins}
            told = {"published": True, **settings}
            resources.create(work, "marts.data_mart", name or uid, uid=uid, edges=edges, settings=told)
            work.make(Add(Attribute(uid, "shared_for_reporting", "true")))
        return uid

    def destination(
        self, settings: Mapping[str, object], *, by: Caller = RITA, secrets: dict[str, str] | None = None
    ) -> str:
        """A destination of Rita's."""
        uid = _new("destination")
        with self.moving.shop.house.write(by) as work:
            resources.create(work, "marts.destination", uid, uid=uid, edges={"project": "sales"}, settings=settings)
            if secrets:
                credentials.put(work, uid, dict(secrets))
        return uid

    def report(self, mart: str, destination: str, settings: Mapping[str, object], *, by: Caller = RITA) -> str:
        """A report of Rita's."""
        uid = _new("report")
        with self.moving.shop.house.write(by) as work:
            edges = {"data_mart": mart, "destination": destination}
            resources.create(work, "marts.report", uid, uid=uid, edges=edges, settings=settings)
        return uid

    def run(self, uid: str, *, by: Caller) -> Run:
        """From its start to its end."""
        return self.moving.run(uid, by=by)

    def filled(self, settings: Mapping[str, object], *, storage: str = LAKE, joins: tuple[str, ...] = ()) -> str:
        """A data mart that has been refreshed."""
        uid = self.mart(settings, storage=storage, joins=joins)
        run = self.run(uid, by=ED)
        assert run.state == "succeeded", run.error
        return uid

    def rows(self, mart: str, what: str = "*", *, by: Caller = ED) -> list[tuple[object, ...]]:
        """What is in it, asked as somebody."""
        return sorted(self.moving.shop.ask(by, f"SELECT {what} FROM lake.Sales.`{mart}`"), key=str)

    def files(self, uid: str) -> Volume:
        """The files of a storage or a destination."""
        with self.moving.shop.house.read(ED) as work:
            return Volume(self.moving.shop.house.settings, Place(work.session.tenant, work.view.resource(uid)))

    def lines(self, run: Run) -> str:
        """What it said."""
        with self.moving.shop.house.read(ED) as work:
            return "\n".join(line.text for line in RUNS.lines(work, run.id))


def furnished(found: Moving) -> Project:
    """With a storage that is the lakehouse."""
    with found.shop.house.access.write(TENANT) as session:
        store = session.store
        store.create("marts.project", "Sales", uid="sales", edges={"tenant": TENANT})
        store.add(Grant("ed", "technical_user", "sales"))
        store.add(Grant("rita", "business_user", "sales"))
    project = Project(found)
    with found.shop.house.write(ED) as work:
        edges = {"project": "sales"}
        settings = {"kind": "lake", "lakehouse": "shop"}
        resources.create(work, "marts.storage", "Lake", uid=LAKE, edges=edges, settings=settings)
    return project


def _new(name: str) -> str:
    return f"{name}_{next(_numbers)}"
