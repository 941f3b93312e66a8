"""A small star for the tests, and the same star in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import TableWriteResult
from lakehold.lake.spark.tables import Tables
from lakehold.workspaces.spaces.executors.star_schema import load_dimension, load_fact, load_view
from lakehold.workspaces.spaces.tasks.base import DatasetReference
from lakehold.workspaces.spaces.tasks.data_mart import (
    DataMartTaskSettings,
    StarColumn,
    StarDimension,
    StarFact,
    StarLink,
    StarView,
    StarViewDimension,
)
from tests.spark import make_rows

PRODUCT = StarDimension(
    name="product",
    source=DatasetReference(task="t1", dataset="products"),
    business_key=("sku",),
    history=2,
    columns=(StarColumn(column="title"), StarColumn(column="phone", history=1)),
    at="since",
    closes_missing=False,
)
SHOP = StarDimension(name="shop", source=DatasetReference(task="t1", dataset="shops"), business_key=("country", "nr"))
SALE = StarFact(
    name="sale",
    source=DatasetReference(task="t1", dataset="sales"),
    keys=("id",),
    at="sold",
    links=(
        StarLink(dimension="product", columns=("sku",)),
        StarLink(dimension="product", columns=("gift",), role="gift"),
        StarLink(dimension="shop", columns=("country", "shop")),
    ),
    measures=("amount",),
)
THEN = StarView(
    name="sales_then",
    fact="sale",
    dimensions=(
        StarViewDimension(role="product", columns=("title", "phone")),
        StarViewDimension(role="shop", columns=("city",)),
        StarViewDimension(role="gift", columns=("title",)),
    ),
)
NOW = StarView(name="sales_now", fact="sale", dimensions=THEN.dimensions, as_of="current")
STAR = DataMartTaskSettings(dimensions=(PRODUCT, SHOP), facts=(SALE,), views=(THEN, NOW))
_numbers = count(5_000)


class ProductRow(NamedTuple):
    """A product from a day on."""

    sku: str | None
    title: str | None
    phone: str | None
    since: int | None


class SaleRow(NamedTuple):
    """A sale of a day."""

    id: int | None
    sku: str | None
    gift: str | None
    sold: int | None
    amount: int
    country: str | None = "de"
    shop: int | None = 1


class SaleLink(NamedTuple):
    """What a sale is linked to: products by key and start, the shop by its city."""

    product: tuple[str, int] | None
    gift: tuple[str, int] | None
    city: str | None


def at(day: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day)


def day(moment: datetime | None) -> int | None:
    return None if moment is None else (moment.astimezone(UTC) - at(0)).days


@dataclass
class StarTables:
    """A star in a lake, loaded step by step; each has the next mark, if none is given."""

    spark: SparkSession
    tables: Tables
    settings: DataMartTaskSettings = STAR
    places: dict[str, TableIdentifier] = field(default_factory=dict)
    sources: dict[str, StructType | None] = field(default_factory=dict)

    def place(self, name: str) -> TableIdentifier:
        return self.places.setdefault(name, TableIdentifier(1, next(_numbers)))

    def mark(self, mark: str | None) -> str:
        return mark or f"m{next(_numbers)}"

    def products(
        self, *rows: ProductRow, moment: int = 50, mark: str | None = None, reload: bool = False
    ) -> TableWriteResult:
        values = [(*row[:3], None if row.since is None else at(row.since)) for row in rows]
        source = make_rows(self.spark, values, "sku string, title string, phone string, since timestamp")
        return self.load("product", source, moment=moment, mark=mark, reload=reload)

    def shops(self, *rows: tuple[object, ...], moment: int = 50) -> TableWriteResult:
        return self.load("shop", make_rows(self.spark, rows, "country string, nr int, city string"), moment=moment)

    def load(
        self, name: str, source: DataFrame, *, moment: int = 50, mark: str | None = None, reload: bool = False
    ) -> TableWriteResult:
        self.sources[name] = source.schema
        dimension, place = self.settings.dimension(name), self.place(name)
        mark = self.mark(mark)
        return load_dimension(self.tables, source, place, dimension, mark=mark, moment=at(moment), reload=reload)

    def sales(self, *rows: SaleRow, mark: str | None = None, reload: bool = False) -> TableWriteResult:
        text = "id int, sku string, gift string, sold timestamp, amount int, country string, shop int"
        values = [(*row[:3], None if row.sold is None else at(row.sold), *row[4:]) for row in rows]
        return self.load_sales(make_rows(self.spark, values, text), mark=mark, reload=reload)

    def load_sales(self, source: DataFrame, *, mark: str | None = None, reload: bool = False) -> TableWriteResult:
        self.sources["sale"] = source.schema
        dimensions = {each.name: self.place(each.name) for each in self.settings.dimensions}
        return load_fact(
            self.tables,
            source,
            self.place("sale"),
            self.settings.fact("sale"),
            star=self.settings,
            dimensions=dimensions,
            mark=self.mark(mark),
            reload=reload,
        )

    def view(self, view: StarView, *, mark: str | None = None) -> TableWriteResult:
        dimensions = {each.name: self.place(each.name) for each in self.settings.dimensions}
        place, fact = self.place(view.name), self.place(view.fact)
        return load_view(
            self.tables, place, view, star=self.settings, fact=fact, dimensions=dimensions, mark=self.mark(mark)
        )

    def rows(self, name: str) -> list[Row]:
        return self.tables.read(self.place(name)).collect()

    def products_found(self) -> list[tuple[object, ...]]:
        """Of a product: what it was called from which day to which, and its phone."""
        rows = [row for row in self.rows("product") if row.product_key != -1]
        assert len({row.product_key for row in rows}) == len(rows)
        assert all(row.product_key >= 0 for row in rows)
        assert all(row.is_current == (row.valid_to is None) for row in rows)
        return sorted(
            ((row.sku, row.title, row.phone, day(row.valid_from), day(row.valid_to)) for row in rows), key=str
        )

    def links_found(self) -> dict[int, SaleLink]:
        """Of each sale what it is linked to."""
        products = {row.product_key: (row.sku, day(row.valid_from)) for row in self.rows("product")}
        cities = {row.shop_key: row.city for row in self.rows("shop")} if "shop" in self.places else {}
        products[-1] = None  # type: ignore[assignment]
        sales = self.rows("sale")
        assert len({row.id for row in sales}) == len(sales)
        return {
            row.id: SaleLink(products[row.product_key], products[row.gift_key], cities[row.shop_key])  # type: ignore[arg-type]
            for row in sales
        }


def expected_products(rows: Iterable[ProductRow]) -> list[tuple[Any, ...]]:
    """Return the versions that all rows together make."""
    found: list[tuple[Any, ...]] = []
    for sku in {row.sku for row in rows}:
        own = sorted((row for row in rows if row.sku == sku), key=lambda row: row.since or 0)
        begins = [row for number, row in enumerate(own) if number == 0 or own[number - 1].title != row.title]
        ends = [row.since for row in begins[1:]]
        found += [
            (sku, row.title, own[-1].phone, row.since, end) for row, end in zip(begins, [*ends, None], strict=True)
        ]
    return sorted(found, key=str)


def expected_product(products: Sequence[tuple[Any, ...]], sku: str | None, sold: int) -> tuple[str, int] | None:
    """Return the version that a sale of this day gets."""
    own = sorted((row[3] for row in products if row[0] == sku), key=int)
    begun = [since for since in own if since <= sold] or own[:1]
    return (str(sku), begun[-1]) if begun else None
