"""Rows in tables of the demo company, written without Spark."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import DateType, DecimalType, ListType, LongType, NestedField, StringType

from lakehold.demo import company
from lakehold.directory.platform import Platform
from lakehold.lake.iceberg_catalog import CATALOG_NAME, IcebergCatalog, TableIdentifier

ORDERS = Schema(
    NestedField(1, "id", LongType(), required=True, doc="One for each order."),
    NestedField(2, "store", StringType(), required=False),
    NestedField(3, "amount", DecimalType(10, 2), required=False, doc="Without tax."),
    NestedField(4, "day", DateType(), required=False),
    NestedField(5, "tags", ListType(6, StringType(), element_required=False), required=False),
)


def place_of(platform: Platform, uid: str) -> TableIdentifier:
    with platform.access.read(company.TENANT) as session:
        return TableIdentifier(session.tenant, session.current_view().resource(uid))


def fill(platform: Platform, uid: str, schema: Schema, *writes: list[dict[str, object]]) -> None:
    """Make a table and write the rows into it, each list as one snapshot."""
    # Its database is made by whoever asks first.
    lake = IcebergCatalog(platform.settings)
    lake.metadata_location(place_of(platform, uid))
    lake.close()
    where, place = platform.settings.data.absolute(), place_of(platform, uid)
    catalog = SqlCatalog(
        CATALOG_NAME, uri=f"sqlite:///{where / 'lake.sqlite'}", warehouse=platform.settings.warehouse_url
    )
    try:
        catalog.create_namespace_if_not_exists(place.namespace)
        table = catalog.create_table(f"{place.namespace}.{place.table}", schema)
        for rows in writes:
            table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    finally:
        catalog.engine.dispose()


def order(number: int, store: str | None = "Ulm") -> dict[str, object]:
    """One row."""
    amount, day = Decimal(number) / 4, date(2026, 1, 1 + number % 28)
    return {"id": number, "store": store, "amount": amount.quantize(Decimal("0.01")), "day": day, "tags": ["web"]}


def fill_orders(platform: Platform) -> None:
    """Orders, in two snapshots: one has no store."""
    fill(platform, "orders", ORDERS, [order(n) for n in range(3)], [order(3, None), order(4, "Köln <b>")])
