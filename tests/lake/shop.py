"""A shop whose tables have rows in them, and a worker that answers.

Rita reads the raw orders and customers, and the layer service. Ed edits the layer raw. Sam reads one table, of another
workspace. Nobody but Ada, who is an Owner, reads the layer secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from lakehold.lake.spark.tables import Tables
from lakehold.runs import heartbeat, worker_client
from lakehold.worker.server import serve

TENANT = "acme"
ADA, RITA, ED, SAM = (Caller(TENANT, member) for member in ("ada", "rita", "ed", "sam"))
SECRET = "the owner's salary"

ROWS = {
    "orders": "SELECT id, CAST(id % 5 AS INT) AS customer, CAST(id * 1.5 AS DECIMAL(10, 2)) AS amount,"
    " DATE '2026-01-01' + CAST(id AS INT) AS day, array('a', 'b') AS tags,"
    ' \'{"city": "Ulm", "n": 7}\' AS told FROM range(100)',
    "customers": "SELECT CAST(id AS INT) AS id, concat('customer ', id) AS name FROM range(5)",
    "sums": "SELECT 1 AS id, 2.5D AS total",
    "hidden": f'SELECT 1 AS id, "{SECRET}" AS word',
    "elsewhere": "SELECT 7 AS id",
}
LAYERS = {"raw": ["orders", "customers"], "service": ["sums"], "secret": ["hidden"]}


@dataclass(slots=True)
class Shop:
    """A lakehouse with rows, and a way to query it."""

    platform: Platform
    tables: Tables

    def place(self, table: str) -> TableIdentifier:
        with self.platform.access.read(TENANT) as session:
            return TableIdentifier(session.tenant, session.current_view().resource(table))

    def ask(self, caller: Caller, text: str, *, workspace: str = "Shop", rows: int = 1000) -> list[tuple[object, ...]]:
        """The rows of a query, as the worker gives them."""
        uid = f"q{abs(hash((caller.member, text)))}"
        with worker_client.run_query(
            self.platform, caller, uid=uid, workspace=workspace, text=text, rows=rows
        ) as found:
            batches = list(found.batches)
        return [row for each in batches for row in zip(*(part.to_pylist() for part in each.columns), strict=True)]


@contextmanager
def open_shop(spark: SparkSession, url: str, data: Path) -> Iterator[Shop]:
    """With its rows, and a worker that answers at once."""
    platform = Platform(Settings(data=data, database=url, query_seconds=60))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in ("ada", "rita", "ed", "sam"):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.add(Grant("ada", "owner", TENANT))
        store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
        store.create("lakehouse.lakehouse", "Other", uid="other", edges={"tenant": TENANT})
        for layer, tables in LAYERS.items():
            store.create("lakehouse.layer", layer, uid=layer, edges={"lakehouse": "shop"})
            for table in tables:
                store.create("lakehouse.table", table, uid=table, edges={"layer": layer})
        store.create("lakehouse.layer", "raw", uid="other_raw", edges={"lakehouse": "other"})
        store.create("lakehouse.table", "elsewhere", uid="elsewhere", edges={"layer": "other_raw"})
        for member in ("rita", "ed"):
            store.add(Grant(member, "member", "shop"))
        for subject, role, resource in (
            ("rita", "viewer", "orders"),
            ("rita", "viewer", "customers"),
            ("rita", "viewer", "service"),
            ("ed", "editor", "raw"),
            ("sam", "viewer", "elsewhere"),
        ):
            store.add(Grant(subject, role, resource))
    lake = IcebergCatalog(platform.settings)
    shop = Shop(platform, Tables(spark, lake))
    for table, text in ROWS.items():
        write_rows(shop.tables, shop.place(table), spark.sql(text), TableWriteOptions(WriteMode.OVERWRITE, "first"))
    with serve(platform) as (address, _warm):
        with platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "here", address)
        yield shop
    lake.close()
    platform.close()
