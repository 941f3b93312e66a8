"""Sources of a products project: refreshed with the rights of who starts that and of their author."""

from __future__ import annotations

import pytest

from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, LakeholdError
from lakehold.workspaces.products.product_tables import ProductTable, list_tables
from tests.lake.shop import ADA, ED, SECRET
from tests.workspaces.products.project import CARL, DORA, ProductsProject

pytestmark = pytest.mark.slow
PEOPLE = "SELECT id, concat('customer ', id) AS name FROM range(3)"


def _ask(here: ProductsProject, source: str, by: Caller = ED) -> list[tuple[object, ...]]:
    return sorted(here.inline_runs.shop.ask(by, f"SELECT * FROM lake.Masters.`{here.name(source)}`"), key=str)


def test_a_source_is_read_by_sql_once_it_is_refreshed(here: ProductsProject) -> None:
    source = here.refreshed_source(PEOPLE)
    assert _ask(here, source) == [(0, "customer 0"), (1, "customer 1"), (2, "customer 2")]


def test_a_refresh_leaves_what_is_gone(here: ProductsProject) -> None:
    table = here.table(PEOPLE)
    source = here.source({"connector": "lake", "stream": table, "keys": ["id"]})
    assert here.run(source, by=ED).state == "succeeded"
    here.fill(table, "SELECT 1L AS id, 'another' AS name UNION ALL SELECT 7L, 'new'")
    assert here.run(source, by=ED).state == "succeeded"
    assert _ask(here, source) == [(1, "another"), (7, "new")]


@pytest.mark.parametrize(
    ("query", "keys", "message"),
    [
        ("SELECT 1 AS id UNION ALL SELECT 1", ["id"], "keys appear more than once"),
        ("SELECT CAST(NULL AS INT) AS id", ["id"], "rows have no id"),
        ("SELECT 1 AS id", ["number"], "The key 'number' is not a field"),
    ],
)
def test_rows_that_no_key_tells_apart_are_refused(
    here: ProductsProject, query: str, keys: list[str], message: str
) -> None:
    source = here.source({"connector": "lake", "stream": here.table(query), "keys": keys})
    run = here.run(source, by=ED)
    assert run.state == "failed"
    assert message in run.error


def test_it_reads_only_what_its_author_and_its_starter_read(here: ProductsProject) -> None:
    # Ed does not read the layer secret, whoever refreshes what he has written.
    source = here.source({"connector": "lake", "stream": "shop.secret.hidden", "keys": ["id"]})
    for starter in (ED, ADA):
        run = here.run(source, by=starter)
        assert run.state == "failed"
        assert SECRET not in run.error
    own = here.source({"connector": "lake", "stream": "shop.secret.hidden", "keys": ["id"]}, by=ADA)
    assert here.run(own, by=ED).state == "failed"
    assert here.run(own, by=ADA).state == "succeeded"


def test_roles_of_a_data_product_do_not_reach_sources(here: ProductsProject) -> None:
    source = here.refreshed_source(PEOPLE)
    here.product({"attributes": [{"name": "name"}], "sources": [{"source": source, "columns": {"name": "name"}}]})
    for member in (DORA, CARL):
        with pytest.raises(LakeholdError):
            _ask(here, source, member)
        with pytest.raises((HiddenError, DeniedError)):
            here.run(source, by=member)


def _product_of(here: ProductsProject, source: str) -> str:
    settings = {"attributes": [{"name": "name"}], "sources": [{"source": source, "columns": {"name": "name"}}]}
    return here.product(settings)


def test_a_data_product_reads_no_source_that_its_author_no_longer_sees(here: ProductsProject) -> None:
    product = _product_of(here, here.refreshed_source(PEOPLE))
    here.revoke("ed", "editor", "masters")
    try:
        run = here.run(product, by=DORA)
    finally:
        here.grant("ed", "editor", "masters")
    assert run.state == "failed"
    assert "may not see one" in run.error
    assert here.run(product, by=DORA).state == "succeeded"


def test_who_makes_a_workflow_does_not_answer_for_a_source(here: ProductsProject) -> None:
    # Ada reads the layer secret, Ed, who has written the source, does not.
    source = here.source({"connector": "lake", "stream": "shop.secret.hidden", "keys": ["id"]})
    product = _product_of(here, source)
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        settings = {"products": [product]}
        workflow = resources.create(ctx, "products.workflow", "all", edges={"project": "masters"}, settings=settings)
    run = here.run(workflow, by=ADA)
    assert run.state == "failed"
    assert SECRET not in run.error
    with pytest.raises(LakeholdError):
        _ask(here, source)


def test_nobody_runs_a_table(here: ProductsProject) -> None:
    product = _product_of(here, here.refreshed_source(PEOPLE))
    assert here.run(product, by=ED).state == "succeeded"
    with here.inline_runs.shop.platform.read(ADA) as ctx:
        tables = list_tables(ctx, product)
    for table in (ProductTable.RECORDS, ProductTable.ENTITIES):
        with pytest.raises(ConflictError, match="filled by its data product"):
            here.run(tables[table], by=ADA)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"keys": ["id"], "stream": "shop.raw.orders"}, "connector"),
        ({"connector": "lake", "keys": ["id"]}, "stream"),
        ({"connector": "lake", "stream": "shop.raw.orders"}, "keys"),
        ({"connector": "lake", "stream": "shop.raw.orders", "keys": ["id", "id"]}, "keys"),
        ({"connector": "database", "stream": "people", "keys": ["id"]}, "address"),
        ({"connector": "database", "keys": ["id"], "address": "jdbc:postgresql://a/b"}, "stream"),
        ({"connector": "telepathy", "stream": "people", "keys": ["id"]}, "connector"),
    ],
)
def test_settings_that_cannot_be_used_name_their_field(
    here: ProductsProject, settings: dict[str, object], field: str
) -> None:
    with pytest.raises(LakeholdError) as refused:
        here.source(settings)
    assert refused.value.field == field
