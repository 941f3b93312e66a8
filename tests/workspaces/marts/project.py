"""A marts project. Ed is its Technical User, Rita a Business User, Ada an Admin of the tenant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from lakehold.access import Add, Attribute, Grant
from lakehold.catalog import credentials, resources
from lakehold.directory.caller import Caller
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import Volume
from lakehold.runs.service import Run
from tests.lake.shop import ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

LAKE = "lake_storage"
SALES = "SELECT id, customer, amount, day FROM raw.orders"
ALIASED = {
    "by": "sql",
    "sql": SALES,
    "columns": [
        {"name": "id", "alias": "Order"},
        {"name": "amount", "alias": "Amount, €"},
        # Beside a column of that name, it keeps its own.
        {"name": "customer", "alias": "day"},
    ],
}
_numbers = count()


@dataclass(slots=True)
class MartsProject:
    """The project, and the resources that tests create in it."""

    inline_runs: InlineRuns

    def storage(self, name: str, settings: Mapping[str, object], secrets: dict[str, str] | None = None) -> str:
        """A storage of Ed's."""
        uid = _unique_name(name)
        with self.inline_runs.shop.platform.write(ED) as ctx:
            resources.create(ctx, "marts.storage", uid, uid=uid, edges={"project": "sales"}, settings=settings)
            if secrets:
                credentials.save(ctx, uid, dict(secrets))
        return uid

    def mart(
        self,
        settings: Mapping[str, object],
        *,
        storage: str = LAKE,
        joins: tuple[str, ...] = (),
        name: str = "",
        published: bool = True,
    ) -> str:
        """A data mart of Ed's, published and open for reports."""
        uid = _unique_name("mart")
        with self.inline_runs.shop.platform.write(ED) as ctx:
            edges = {"project": "sales", "storage": storage, "joins": joins}
            managed = {"published": published}
            resources.create(
                ctx, "marts.data_mart", name or uid, uid=uid, edges=edges, settings=settings, managed=managed
            )
            ctx.make(Add(Attribute(uid, "shared_for_reporting", "true")))
        return uid

    def destination(
        self, settings: Mapping[str, object], *, by: Caller = RITA, secrets: dict[str, str] | None = None
    ) -> str:
        """A destination of Rita's."""
        uid = _unique_name("destination")
        with self.inline_runs.shop.platform.write(by) as ctx:
            resources.create(ctx, "marts.destination", uid, uid=uid, edges={"project": "sales"}, settings=settings)
            if secrets:
                credentials.save(ctx, uid, dict(secrets))
        return uid

    def report(self, mart: str, destination: str, settings: Mapping[str, object], *, by: Caller = RITA) -> str:
        """A report of Rita's."""
        uid = _unique_name("report")
        with self.inline_runs.shop.platform.write(by) as ctx:
            edges = {"data_mart": mart, "destination": destination}
            resources.create(ctx, "marts.report", uid, uid=uid, edges=edges, settings=settings)
        return uid

    def run(self, uid: str, *, by: Caller) -> Run:
        """From its start to its end."""
        return self.inline_runs.run(uid, by=by)

    def create_refreshed_mart(
        self, settings: Mapping[str, object], *, storage: str = LAKE, joins: tuple[str, ...] = ()
    ) -> str:
        """A data mart that has been refreshed."""
        uid = self.mart(settings, storage=storage, joins=joins)
        run = self.run(uid, by=ED)
        assert run.state == "succeeded", run.error
        return uid

    def rows(self, mart: str, what: str = "*", *, by: Caller = ED) -> list[tuple[object, ...]]:
        """What is in it, asked as somebody."""
        return sorted(self.inline_runs.shop.ask(by, f"SELECT {what} FROM lake.Sales.`{mart}`"), key=str)

    def files(self, uid: str) -> Volume:
        """The files of a storage or a destination."""
        with self.inline_runs.shop.platform.read(ED) as ctx:
            return Volume(
                self.inline_runs.shop.platform.settings, TableIdentifier(ctx.session.tenant, ctx.view.resource(uid))
            )

    def lines(self, run: Run) -> str:
        """What it said."""
        with self.inline_runs.shop.platform.read(ED) as ctx:
            return "\n".join(line.text for line in RUNS.log_lines(ctx, run.id))


def create_project(found: InlineRuns) -> MartsProject:
    """Create the project, with a storage that is the lakehouse."""
    with found.shop.platform.access.write(TENANT) as session:
        store = session.store
        store.create("marts.project", "Sales", uid="sales", edges={"tenant": TENANT})
        store.add(Grant("ed", "technical_user", "sales"))
        store.add(Grant("rita", "business_user", "sales"))
    project = MartsProject(found)
    with found.shop.platform.write(ED) as ctx:
        edges = {"project": "sales"}
        settings = {"kind": "lake", "lakehouse": "shop"}
        resources.create(ctx, "marts.storage", "Lake", uid=LAKE, edges=edges, settings=settings)
    return project


def _unique_name(name: str) -> str:
    return f"{name}_{next(_numbers)}"
