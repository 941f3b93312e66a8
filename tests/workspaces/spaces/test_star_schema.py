"""Stars: keys that stay, versions that facts get, and whatever is late finds its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import DataError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.spark.tables import Tables
from lakehold.workspaces.spaces.executors.star_members import MemberRule
from lakehold.workspaces.spaces.executors.star_plan import star_schemas
from lakehold.workspaces.spaces.executors.star_schema import load_dimension
from lakehold.workspaces.spaces.tasks.data_mart import StarViewDimension
from tests.workspaces.spaces.star import (
    NOW,
    PRODUCT,
    SALE,
    SHOP,
    STAR,
    THEN,
    ProductRow,
    SaleLink,
    SaleRow,
    StarTables,
    day,
    expected_product,
    expected_products,
)

FULL = replace(STAR, dimensions=(replace(PRODUCT, closes_missing=True), SHOP))


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[IcebergCatalog]:
    """One kind is enough: a star is the same in all of them."""
    found = IcebergCatalog(Settings(data=tmp_path))
    yield found
    found.close()


@pytest.fixture
def star(spark: SparkSession, lake: IcebergCatalog) -> StarTables:
    found = StarTables(spark, Tables(spark, lake))
    found.shops(("de", 1, "Berlin"), ("de", 2, "Bonn"), ("fr", 1, "Paris"))
    return found


def test_a_change_makes_a_version_and_overwrites_what_is_of_type_1(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("b", "Bread", None, 0))
    star.products(ProductRow("a", "Pear", "2", 5), ProductRow("b", "Bread", "9", 7))
    assert star.products_found() == [
        ("a", "Apple", "2", 0, 5),
        ("a", "Pear", "2", 5, None),
        ("b", "Bread", "9", 0, None),
    ]
    # Older rows change the versions before, and not what is newest of a member.
    star.products(ProductRow("a", "Plum", "3", 2), ProductRow("b", "Bread", "8", 6))
    assert star.products_found() == [
        ("a", "Apple", "2", 0, 2),
        ("a", "Pear", "2", 5, None),
        ("a", "Plum", "2", 2, 5),
        ("b", "Bread", "9", 0, None),
    ]


def test_a_member_of_type_1_that_is_gone_stays_and_is_flagged(star: StarTables) -> None:
    before = {row.shop_key for row in star.rows("shop")}
    star.shops(("de", 1, "Potsdam"), ("fr", 1, None), ("fr", 2, "Lyon"))
    found = {(row.country, row.nr): (row.city, row.is_deleted) for row in star.rows("shop") if row.shop_key != -1}
    assert found == {
        ("de", 1): ("Potsdam", False),
        ("de", 2): ("Bonn", True),
        ("fr", 1): (None, False),
        ("fr", 2): ("Lyon", False),
    }
    assert before < {row.shop_key for row in star.rows("shop")}
    star.shops(("de", 2, "Bonn"))
    assert [row.is_deleted for row in star.rows("shop") if row.nr == 2 and row.country == "de"] == [False]


def test_a_source_of_changes_deletes_no_member(star: StarTables) -> None:
    star.settings = replace(STAR, dimensions=(PRODUCT, replace(SHOP, closes_missing=False)))
    star.shops(("de", 1, "Potsdam"))
    assert not any(row.is_deleted for row in star.rows("shop"))
    assert len(star.rows("shop")) == 4


def test_a_version_ends_when_its_member_is_gone_and_another_begins_when_it_is_back(star: StarTables) -> None:
    star.settings = FULL
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("b", "Bread", "2", 0), moment=10)
    star.products(ProductRow("b", "Bread", "2", 0), moment=20)
    star.products(ProductRow("a", "Apple", "3", 0), ProductRow("b", "Bread", "2", 0), moment=30)
    star.products(ProductRow("a", "Apple", "3", 0), ProductRow("b", "Bread", "2", 0), moment=40)
    assert star.products_found() == [
        ("a", "Apple", "3", 0, 20),
        ("a", "Apple", "3", 30, None),
        ("b", "Bread", "2", 0, None),
    ]


def test_without_a_time_a_version_begins_when_it_is_first_seen(star: StarTables) -> None:
    star.settings = replace(STAR, dimensions=(replace(PRODUCT, at="", closes_missing=True), SHOP))
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("b", "Bread", "1", 0), moment=10)
    star.products(ProductRow("a", "Pear", "1", 0), ProductRow("b", "Bread", "2", 0), moment=20)
    expected = [("a", "Apple", "1", 10, 20), ("a", "Pear", "1", 20, None), ("b", "Bread", "2", 10, None)]
    assert star.products_found() == expected
    # There is no other place that knows when they began.
    again = star.products(ProductRow("a", "Pear", "1", 0), ProductRow("b", "Bread", "2", 0), moment=30, reload=True)
    assert star.products_found() == expected
    assert (again.added, again.removed) == (0, 0)


def test_surrogate_keys_stay_the_same(star: StarTables) -> None:
    rows = [ProductRow("a", "Apple", "1", 0), ProductRow("a", "Pear", "1", 3), ProductRow("b", "Bread", "1", 0)]
    star.products(*rows)
    first = {row.product_key: (row.sku, row.valid_from) for row in star.rows("product")}
    # As it was when keys were first given away: other places have stored them.
    assert {(sku, day(since)): key for key, (sku, since) in first.items() if sku}[("a", 0)] == 7977751455195106190
    again = star.products(*reversed(rows), reload=True)
    assert (again.again, again.added, again.removed, again.total) == (False, 0, 0, 4)
    elsewhere = StarTables(star.spark, star.tables)
    for row in reversed(rows):
        elsewhere.products(row)
    assert {row.product_key: (row.sku, row.valid_from) for row in elsewhere.rows("product")} == first


def test_a_reload_forgets_what_the_source_has_no_more(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("a", "Pear", "1", 3), ProductRow("b", "Bread", "1", 0))
    star.products(ProductRow("a", "Apple", "1", 0), reload=True)
    assert star.products_found() == [("a", "Apple", "1", 0, None)]
    star.sales(SaleRow(1, "a", None, 5, 10), SaleRow(2, "a", None, 5, 10))
    star.sales(SaleRow(2, "a", None, 5, 11), reload=True)
    assert [(row.id, row.amount) for row in star.rows("sale")] == [(2, 11)]
    star.sales(reload=True)
    assert star.rows("sale") == []


def test_the_same_write_is_made_once(star: StarTables) -> None:
    first = star.products(ProductRow("a", "Apple", "1", 0), mark="p1")
    again = star.products(ProductRow("a", "Pear", "1", None), mark="p1")
    assert (first.again, again.again, again.snapshot) == (False, True, first.snapshot)
    first = star.sales(SaleRow(1, "a", None, 5, 10), mark="s1")
    again = star.sales(SaleRow(2, "a", None, None, 10), mark="s1")
    assert (first.again, again.again, again.snapshot) == (False, True, first.snapshot)
    first = star.view(THEN, mark="v1")
    star.sales(SaleRow(2, "a", None, 5, 10), mark="s2")
    again = star.view(THEN, mark="v1")
    assert (first.again, again.again, again.snapshot) == (False, True, first.snapshot)
    for name in ("product", "sale", "sales_then"):
        marks = [each.mark for each in star.tables.current_metadata(star.place(name)).snapshots]
        assert len(set(marks)) == len(marks)
    assert len(star.rows("sales_then")) == 1
    assert star.products_found() == [("a", "Apple", "1", 0, None)]


def test_a_fact_before_its_member_is_linked_to_the_unknown_one_and_repaired(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    star.sales(SaleRow(1, "a", "b", 5, 10), SaleRow(2, None, None, 5, 20, "it"), SaleRow(3, "b", None, 5, 30))
    assert star.links_found() == {
        1: SaleLink(("a", 0), None, "Berlin"),
        2: SaleLink(None, None, None),
        3: SaleLink(None, None, "Berlin"),
    }
    star.products(ProductRow("b", "Bread", "1", 1))
    star.shops(("de", 1, "Berlin"), ("it", 1, "Rome"))
    done = star.sales()
    assert star.links_found() == {
        1: SaleLink(("a", 0), ("b", 1), "Berlin"),
        2: SaleLink(None, None, "Rome"),
        3: SaleLink(("b", 1), None, "Berlin"),
    }
    assert done.added == 3
    assert star.sales().added == 0


def test_a_fact_gets_the_version_that_was_valid_when_it_happened(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 10), ProductRow("a", "Pear", "1", 20))
    sales = [SaleRow(number, "a", None, sold, 1) for number, sold in enumerate((10, 19, 20, 99, 3))]
    star.sales(*sales)
    found = {number: link.product for number, link in star.links_found().items()}
    # The last one happened before the product was known.
    assert found == {0: ("a", 10), 1: ("a", 10), 2: ("a", 20), 3: ("a", 20), 4: ("a", 10)}


def test_a_fact_of_a_member_that_is_gone_keeps_its_last_version(star: StarTables) -> None:
    star.settings = FULL
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("b", "Bread", "1", 0), moment=10)
    star.products(ProductRow("b", "Bread", "1", 0), moment=20)
    star.sales(SaleRow(1, "a", None, 30, 1))
    assert star.links_found()[1].product == ("a", 0)


def test_a_late_change_splits_a_version_and_links_the_facts_in_its_span_anew(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("a", "Pear", "1", 30))
    star.sales(*(SaleRow(number, "a", None, number, 1) for number in (5, 10, 15, 20, 25, 30, 35)))
    star.products(ProductRow("a", "Plum", "1", 10), ProductRow("a", "Apple", "1", 20))
    done = star.sales()
    found = {number: link.product for number, link in star.links_found().items() if link.product}
    assert {number: link[1] for number, link in found.items()} == {5: 0, 10: 10, 15: 10, 20: 20, 25: 20, 30: 30, 35: 30}
    # Nothing else was written.
    assert (done.added, done.total) == (4, 11)


def test_a_fact_that_arrives_again_replaces_the_one_before(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    star.sales(SaleRow(1, "a", None, 5, 10), SaleRow(2, "a", None, 5, 20))
    star.sales(SaleRow(2, None, "a", 6, 25), SaleRow(3, "a", None, 5, 30))
    assert sorted((row.id, row.amount) for row in star.rows("sale")) == [(1, 10), (2, 25), (3, 30)]
    assert star.links_found()[2] == SaleLink(None, ("a", 0), "Berlin")
    star.settings = replace(STAR, facts=(replace(SALE, removes_missing=True),))
    star.sales(SaleRow(3, "a", None, 5, 31))
    assert [(row.id, row.amount) for row in star.rows("sale")] == [(3, 31)]


def test_a_view_shows_members_as_they_were_or_as_they_are(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0), ProductRow("a", "Pear", "2", 10))
    star.sales(SaleRow(1, "a", "a", 5, 10), SaleRow(2, "a", None, 15, 20), SaleRow(3, "x", None, 5, 30, None))
    star.view(THEN)
    star.view(NOW)
    columns = ["id", "sold", "sku", "gift", "country", "shop", "amount"]
    shown = ["product_title", "product_phone", "shop_city", "gift_title"]
    assert star.tables.read(star.place("sales_then")).columns == [*columns, *shown]
    values = {
        view: sorted(tuple(row[name] for name in ("id", "amount", *shown)) for row in star.rows(view))
        for view in ("sales_then", "sales_now")
    }
    assert values["sales_then"] == [
        (1, 10, "Apple", "2", "Berlin", "Apple"),
        (2, 20, "Pear", "2", "Berlin", None),
        (3, 30, None, None, None, None),
    ]
    assert values["sales_now"] == [
        (1, 10, "Pear", "2", "Berlin", "Pear"),
        (2, 20, "Pear", "2", "Berlin", None),
        (3, 30, None, None, None, None),
    ]
    star.sales(SaleRow(4, "a", None, 5, 40))
    assert star.view(THEN).added == 1
    fewer = replace(THEN, dimensions=(StarViewDimension(role="product", columns=("sku", "VALID_FROM")),))
    star.view(fewer)
    assert star.tables.read(star.place("sales_then")).columns == [*columns, "product_sku", "product_VALID_FROM"]
    assert len(star.rows("sales_then")) == 4


def test_all_columns_are_taken_if_none_is_chosen(star: StarTables) -> None:
    star.settings = replace(
        STAR,
        dimensions=(replace(PRODUCT, columns=(), history=2), SHOP),
        facts=(replace(SALE, measures=()),),
    )
    source = star.spark.sql(
        "SELECT 'a' AS SKU, 'x' AS surrogate_key, 1 AS size, timestamp '2024-01-02' AS Since, true AS is_current"
    )
    star.load("product", source)
    found = star.tables.read(star.place("product")).columns
    assert found == ["product_key", "SKU", "size", "valid_from", "valid_to", "is_current", "changed_at"]
    sale = "7 AS id, date '2024-01-05' AS SOLD, 'a' AS sku, 'a' AS gift, 'de' AS country, 1 AS shop, 'n' AS note"
    star.load_sales(star.spark.sql(f"SELECT {sale}"))
    found_sale = star.rows("sale")[0]
    assert found_sale.note == "n"
    assert found_sale.product_key == found_sale.gift_key > 0


def test_the_columns_are_known_before_anything_is_loaded(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    star.sales(SaleRow(1, "a", "a", 5, 10))
    star.view(THEN)
    star.view(NOW)
    planned = {name: found and found.simpleString() for name, found in star_schemas(STAR, star.sources)}
    assert planned == {name: star.tables.schema(star.place(name)).simpleString() for name in star.places}
    unknown = dict(star_schemas(STAR, {**star.sources, "shop": None}))
    assert [name for name, found in unknown.items() if found is None] == ["shop", "sales_then", "sales_now"]


def test_columns_may_come_and_change_their_type(star: StarTables) -> None:
    star.settings = replace(STAR, dimensions=(replace(PRODUCT, columns=()), SHOP))
    star.load("product", star.spark.sql("SELECT 1 AS sku, 'a' AS title, timestamp '2024-01-02' AS since"))
    key = next(row.product_key for row in star.rows("product") if row.sku)
    wider = "SELECT 1L AS sku, 'a' AS title, 5 AS size, timestamp '2024-01-05' AS since"
    star.load("product", star.spark.sql(wider))
    rows = sorted((row for row in star.rows("product") if row.sku), key=lambda row: str(row.valid_from))
    assert [(row.size, day(row.valid_from)) for row in rows] == [(None, 1), (5, 4)]
    assert rows[0].product_key == key


def test_what_does_not_fit_is_refused_and_nothing_is_lost(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    star.sales(SaleRow(1, "a", None, 5, 10))
    before = star.products_found(), star.links_found()
    star.settings = FULL
    with pytest.raises(DataError, match="have no sku"):
        star.products(ProductRow(None, "Apple", "1", 0))
    with pytest.raises(DataError, match="have no since"):
        star.products(ProductRow("a", "Apple", "1", None))
    with pytest.raises(DataError, match="several different rows for one member and time, such as a"):
        star.products(ProductRow("a", "Apple", "1", 2), ProductRow("a", "Apple", "2", 2))
    with pytest.raises(DataError, match="The source of product is empty"):
        star.products()
    with pytest.raises(DataError, match="no column 'title'"):
        star.load("product", star.spark.sql("SELECT 'a' AS sku, now() AS since, 'x' AS phone"))
    with pytest.raises(DataError, match="since is string, not a time"):
        star.load("product", star.spark.sql("SELECT 'a' AS sku, 'a' AS title, 'x' AS since, 'x' AS phone"))
    with pytest.raises(DataError, match="The column title has maps"):
        star.load("product", star.spark.sql("SELECT 'a' AS sku, map(1, 2) AS title, now() AS since, 'x' AS phone"))
    with pytest.raises(DataError, match="have no sold"):
        star.sales(SaleRow(2, "a", None, None, 10))
    with pytest.raises(DataError, match="have no id"):
        star.sales(SaleRow(None, "a", None, 5, 10))
    with pytest.raises(DataError, match="more than once, such as 2"):
        star.sales(SaleRow(2, "a", None, 5, 10), SaleRow(2, "a", None, 5, 10))
    star.settings = replace(FULL, facts=(replace(SALE, removes_missing=True),))
    with pytest.raises(DataError, match="The source of sale is empty"):
        star.sales()
    star.settings = replace(STAR, dimensions=(replace(PRODUCT, history=1, columns=()), SHOP))
    with pytest.raises(DataError, match="has no is_deleted"):
        star.products(ProductRow("a", "Apple", "1", 0))
    source = star.spark.sql("SELECT 'a' AS sku, 'a' AS title, now() AS since, 'x' AS phone")
    with pytest.raises(InvalidInputError, match="needs a time zone"):
        load_dimension(star.tables, source, star.place("product"), PRODUCT, mark="x", moment=datetime(2024, 1, 1))  # noqa: DTZ001 - that is the point
    star.settings = STAR
    assert (star.products_found(), star.links_found()) == before


def test_a_number_is_not_compared_with_a_text(star: StarTables) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    source = "SELECT 1 AS id, 7 AS sku, 'a' AS gift, now() AS sold, 5 AS amount, 'de' AS country, 1L AS shop"
    with pytest.raises(DataError, match="sku is int, the business key of product string"):
        star.load_sales(star.spark.sql(source))


def test_two_members_with_one_surrogate_key_are_refused(star: StarTables, monkeypatch: pytest.MonkeyPatch) -> None:
    star.products(ProductRow("a", "Apple", "1", 0))
    monkeypatch.setattr(MemberRule, "surrogate", lambda _: f.lit(7).cast("bigint"))
    with pytest.raises(DataError, match="more than once, such as 7"):
        star.products(ProductRow("b", "Bread", "1", 0), ProductRow("c", "Cheese", "1", 0))
    assert star.products_found() == [("a", "Apple", "1", 0, None)]


_skus = st.sampled_from([f"p{number}" for number in range(8)])
_product = st.builds(
    ProductRow, _skus, st.sampled_from(["x", "y", None]), st.sampled_from(["1", "2"]), st.integers(0, 30)
)
_sale = st.builds(
    SaleRow,
    id=st.integers(0, 9_999),
    sku=_skus,
    gift=st.none() | _skus,
    sold=st.integers(-5, 35),
    amount=st.integers(0, 9),
    country=st.just("de"),
    shop=st.integers(1, 3),
)


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    products=st.lists(_product, min_size=20, max_size=40, unique_by=lambda row: (row.sku, row.since)),
    sales=st.lists(_sale, min_size=40, max_size=60, unique_by=lambda row: row.id),
    cuts=st.tuples(st.integers(0, 20), st.integers(0, 40)),
    facts_first=st.booleans(),
    keeps_all=st.booleans(),
)
def test_what_arrives_in_any_order_ends_in_the_same_star(  # noqa: PLR0917 - hypothesis gives them by name
    star: StarTables,
    products: list[ProductRow],
    sales: list[SaleRow],
    cuts: tuple[int, int],
    facts_first: bool,
    keeps_all: bool,
) -> None:
    """The source has all changes so far, or only those since the last load."""
    star.places.pop("product", None)
    star.places.pop("sale", None)
    if not keeps_all:
        # A repetition leaves no trace, so that a change before it, if it comes later, would last until the next one.
        products = [row._replace(title=f"{row.title} {number}") for number, row in enumerate(products)]
    for number in range(3):
        some = products[: cuts[0]], products[cuts[0] : cuts[0] + 8], products[cuts[0] + 8 :]
        rows = sales[: cuts[1]], sales[cuts[1] : cuts[1] + 10], sales[cuts[1] + 10 :]
        arriving = [row for batch in some[: number + 1] for row in batch] if keeps_all else some[number]
        if facts_first and number:
            star.sales(*rows[number], mark=f"s{number}")
        star.products(*arriving, mark=f"p{number}")
        if not (facts_first and number):
            star.sales(*rows[number], mark=f"s{number}")
    star.sales()
    expected = expected_products(products)
    assert star.products_found() == expected
    cities = {1: "Berlin", 2: "Bonn", 3: None}
    assert star.links_found() == {
        row.id: SaleLink(
            expected_product(expected, row.sku, row.sold or 0),
            expected_product(expected, row.gift, row.sold or 0),
            cities[row.shop or 0],
        )
        for row in sales
    }
    snapshots = [star.tables.current_metadata(star.place(name)).current for name in ("product", "sale")]
    star.products(ProductRow("p0", "other", "3", 3), mark="p2")
    star.sales(SaleRow(0, "p0", None, 1, 1), mark="s1")
    assert [star.tables.current_metadata(star.place(name)).current for name in ("product", "sale")] == snapshots
