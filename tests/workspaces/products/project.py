"""A products project beside a lakehouse. Ed is its editor and reads the layer raw. Dora is Developer, Carl Curator and
Vera Viewer of data products that name them; none of them has a role in the project. Ada is an Owner of the tenant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from lakehold.access import Grant
from lakehold.catalog import resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.caller import Caller
from lakehold.lake import readable_tables
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run
from lakehold.workspaces.products.product_tables import ProductTable, list_tables
from tests.lake.shop import ADA, ED, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

DORA, CARL, VERA = (Caller(TENANT, member) for member in ("dora", "carl", "vera"))
ROLES = {"dora": "developer", "carl": "curator", "vera": "viewer"}
_numbers = count()


@dataclass(slots=True)
class ProductsProject:
    """The project, and the resources that tests create in it."""

    inline_runs: InlineRuns

    def table(self, query: str) -> str:
        """A table of the layer raw with the rows of a query, as SQL calls it."""
        name = _unique_name("customers")
        shop = self.inline_runs.shop
        with shop.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.table", name, uid=name, edges={"layer": "raw"})
        self.fill(f"shop.raw.{name}", query)
        return f"shop.raw.{name}"

    def fill(self, table: str, query: str) -> None:
        """Other rows into such a table."""
        shop = self.inline_runs.shop
        place = shop.place(table.rpartition(".")[2])
        rows = shop.tables.session.sql(query)
        write_rows(shop.tables, place, rows, TableWriteOptions(WriteMode.OVERWRITE, _unique_name("mark")))

    def source(self, settings: Mapping[str, object], *, by: Caller = ED) -> str:
        """A source of Ed's."""
        name = _unique_name("source")
        with self.inline_runs.shop.platform.write(by) as ctx:
            return resources.create(ctx, "products.source", name, edges={"project": "masters"}, settings=settings)

    def refreshed_source(self, query: str, keys: tuple[str, ...] = ("id",)) -> str:
        """A source that has the rows of a query."""
        uid = self.source({"connector": "lake", "stream": self.table(query), "keys": list(keys)})
        run = self.run(uid, by=ED)
        assert run.state == "succeeded", run.error
        return uid

    def product(self, settings: Mapping[str, object], *, by: Caller = ED) -> str:
        """A data product of Ed's, with Dora, Carl and Vera."""
        name = _unique_name("product")
        with self.inline_runs.shop.platform.write(by) as ctx:
            uid = resources.create(ctx, "products.product", name, edges={"project": "masters"}, settings=settings)
        with self.inline_runs.shop.platform.access.write(TENANT) as session:
            for member, role in ROLES.items():
                session.store.add(Grant(member, role, uid))
        return uid

    def edit(self, uid: str, settings: Mapping[str, object], *, by: Caller = ED) -> None:
        with self.inline_runs.shop.platform.write(by) as ctx:
            apply_edit(ctx, uid, ResourceEdit(settings=settings))

    def run(self, uid: str, *, by: Caller, parameters: Mapping[str, object] | None = None, reload: bool = False) -> Run:
        """From its start to its end."""
        with self.inline_runs.shop.platform.write(by) as ctx:
            run = RUNS.start(ctx, uid, RunOptions(reload, parameters=parameters or {})).id
        return self.inline_runs.execute(run)

    def table_rows(self, product: str, table: ProductTable) -> list[dict[str, object]]:
        """The rows of a table of a data product, as the platform reads them."""
        shop = self.inline_runs.shop
        with shop.platform.read(ADA) as ctx:
            place = readable_tables.identifier_of(ctx, list_tables(ctx, product)[table])
        return [row.asDict() for row in shop.tables.read(place).collect()]

    def name(self, uid: str) -> str:
        with self.inline_runs.shop.platform.read(ADA) as ctx:
            return ctx.view.names.get(ctx.view.resource(uid)) or uid

    def grant(self, member: str, role: str, resource: str) -> None:
        with self.inline_runs.shop.platform.access.write(TENANT) as session:
            session.store.add(Grant(member, role, resource))

    def revoke(self, member: str, role: str, resource: str) -> None:
        with self.inline_runs.shop.platform.access.write(TENANT) as session:
            session.store.remove(Grant(member, role, resource))


def create_project(found: InlineRuns) -> ProductsProject:
    """Create the project and its people."""
    with found.shop.platform.access.write(TENANT) as session:
        store = session.store
        for member in ROLES:
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.create("products.project", "Masters", uid="masters", edges={"tenant": TENANT})
        store.add(Grant("ed", "editor", "masters"))
    return ProductsProject(found)


def _unique_name(name: str) -> str:
    return f"{name}_{next(_numbers)}"
