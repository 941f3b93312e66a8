"""The data product Customers with real tables: four entities of nine records, and one member for each role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from lakehold import workspaces
from lakehold.access import Draft, Grant
from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.lake.iceberg_catalog import CATALOG_NAME, SCHEMA, IcebergCatalog, TableIdentifier
from lakehold.workspaces.products.curation.curated_product import CuratedProduct
from lakehold.workspaces.products.curation.entity_lookup import open_entities
from lakehold.workspaces.products.curation.pair_queue import ScoredPair
from tests.access.company import TENANT

PRODUCT, OTHER_PRODUCT, PROJECT = "customers", "vendors", "masters"
ROLES = ("admin", "developer", "curator", "viewer")
ATTRIBUTES = [
    {"name": "name", "type": "full name"},
    {"name": "city", "type": "city"},
    {"name": "born", "type": "date"},
    {"name": "revenue", "type": "number"},
]
MEMBERS = {"e1": ("r1", "r2", "r3"), "e2": ("r4", "r5"), "e3": ("r6",), "e4": ("r7", "r8", "r9")}
CITIES = {"e1": "Ulm", "e2": "Bonn", "e3": None, "e4": "Kiel"}
PAIRS = [
    ScoredPair("r1", "r4", 0.5, "e1", "e2", 5),
    ScoredPair("r6", "r2", 0.6, "e3", "e1", 4),
    ScoredPair("r4", "r6", 0.9, "e2", "e3", 3),
    ScoredPair("r5", "r7", 0.4, "e2", "e4", 5),
    ScoredPair("r8", "r9", 0.5, "e4", "e4", 3),
]


@dataclass(slots=True)
class Customers:
    """The data product on a platform."""

    platform: Platform
    lake: IcebergCatalog

    @contextmanager
    def act(self, member: str = "curator", product: str = PRODUCT, tenant: str = TENANT) -> Iterator[CuratedProduct]:
        """Curate as a member, in a transaction of its own."""
        with self.platform.write(Caller(tenant, member)) as ctx:
            yield self.open(ctx, product)

    def open(self, ctx: RequestContext, product: str = PRODUCT) -> CuratedProduct:
        """Open a data product."""
        return CuratedProduct(ctx, product, lambda: open_entities(ctx, self.lake, product))

    def write_tables(
        self,
        members: Mapping[str, Sequence[str]],
        cities: Mapping[str, str | None],
        changes: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Write what a run has made, in the place of what was there. Changes lead from entities to successors."""
        records = [{"record": record, "entity": entity} for entity, ids in members.items() for record in ids]
        entities = [
            {"entity": entity, "records": len(ids), "city": cities.get(entity), "name": None}
            for entity, ids in members.items()
        ]
        rows = [
            {"entity": entity, "change": "merged", "successors": list(ids), "run": "run_2"}
            for entity, ids in (changes or {}).items()
        ]
        text, texts = pa.string(), pa.list_(pa.string())
        shapes = {
            "members": (pa.schema({"record": text, "entity": text}), records),
            "entities": (pa.schema({"entity": text, "records": pa.int32(), "city": text, "name": text}), entities),
            "changes": (pa.schema({"entity": text, "change": text, "successors": texts, "run": text}), rows),
        }
        with self._catalog() as catalog:
            for name, (schema, values) in shapes.items():
                place = self._place(name)
                catalog.create_namespace_if_not_exists(place.namespace)
                table = catalog.create_table_if_not_exists(f"{place.namespace}.{place.table}", schema)
                write = table.overwrite if table.current_snapshot() else table.append
                if values:
                    write(pa.Table.from_pylist(values, schema=table.schema().as_arrow()))

    def _place(self, name: str) -> TableIdentifier:
        with self.platform.access.read(TENANT) as session:
            return TableIdentifier(session.tenant, session.current_view().resource(f"{PRODUCT}_{name}"))

    @contextmanager
    def _catalog(self) -> Iterator[SqlCatalog]:
        self.lake.metadata_location(TableIdentifier(1, 1))
        url = self.platform.database.url
        if url.get_backend_name() == "sqlite":
            uri = f"sqlite:///{self.platform.settings.data.absolute() / 'lake.sqlite'}"
        else:
            options = quote(f"-csearch_path={SCHEMA}")
            uri = f"{url.render_as_string(hide_password=False)}?options={options}"
        catalog = SqlCatalog(CATALOG_NAME, uri=uri, warehouse=self.platform.settings.warehouse_url)
        try:
            yield catalog
        finally:
            catalog.engine.dispose()


def create_customers(platform: Platform) -> Customers:
    """Create the data product with its tables, and another one that was never run."""
    found = Customers(platform, IcebergCatalog(platform.settings))
    with platform.write(Caller(TENANT, "ada")) as ctx:
        store = ctx.session.store
        store.create("products.project", "Masters", uid=PROJECT, edges={"tenant": TENANT})
        for role in ROLES:
            store.create("tenant.member", role.title(), uid=role, edges={"tenant": TENANT})
        for product in (PRODUCT, OTHER_PRODUCT):
            store.create("products.product", product.title(), uid=product, edges={"project": PROJECT})
            resource_metadata.create(ctx, product, settings={"attributes": ATTRIBUTES})
            for role in ROLES:
                store.add(Grant(role, role, product))
        for name in ("members", "entities", "changes"):
            kind = "record_table" if name == "members" else "entity_table"
            draft = Draft(f"products.{kind}", {"product": PRODUCT})
            ctx.create_unchecked(draft, name, uid=f"{PRODUCT}_{name}")
    found.write_tables(MEMBERS, CITIES)
    return found


STRANGER, ELSEWHERE = "stranger", "other"


def create_stranger(platform: Platform) -> None:
    """Create another tenant, with an Owner."""
    platform.access.create_tenant(ELSEWHERE, "Other", workspaces.models())
    with platform.access.write(ELSEWHERE) as session:
        session.store.create("tenant.member", "Stranger", uid=STRANGER, edges={"tenant": ELSEWHERE})
        session.store.add(Grant(STRANGER, "owner", ELSEWHERE))
