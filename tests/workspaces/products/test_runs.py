"""Runs of data products: from the rows of sources to golden records that are published, one version after the other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import NotFoundError
from lakehold.runs.service import Run
from lakehold.workspaces.products import published_entities, versions
from lakehold.workspaces.products.curation import entity_edits, overrides
from lakehold.workspaces.products.curation.curated_product import CuratedProduct
from lakehold.workspaces.products.curation.entity_lookup import open_entities
from lakehold.workspaces.products.product_tables import ProductTable
from lakehold.workspaces.products.published_entities import NotPublishedError
from tests.lake.shop import ADA, ED, SAM
from tests.workspaces.products.project import CARL, DORA, VERA, ProductsProject

pytestmark = pytest.mark.slow

_COLUMNS = "AS people(id, given, family, mail, phone, city)"
CRM = (
    """(1, 'Anna', 'Müller', 'anna.mueller@example.com', '+49 221 1234567', 'Köln')""",
    """(2, 'Bernd', 'Schmidt', 'bernd@schmidt.example', '0221 7654321', 'Köln')""",
    """(3, 'Clara', 'Weber', 'clara.weber@example.org', NULL, 'Bonn')""",
    """(4, 'Dieter', 'Fischer', NULL, '+49 30 9988776', 'Berlin')""",
)
SHOP = (
    """('a1', 'ANNA', 'MUELLER', 'anna.mueller@example.com', '0221/1234567', 'Koeln')""",
    """('a2', 'Bernd', 'Schmidt', 'bernd@schmidt.example', '+49 221 7654321', 'Köln')""",
    """('a3', 'Emil', 'Wagner', 'emil@wagner.example', NULL, 'Hamburg')""",
)
ATTRIBUTES = [
    {"name": "given", "type": "given name"},
    {"name": "family", "type": "family name"},
    {"name": "email", "type": "email"},
    {"name": "phone", "type": "phone"},
    {"name": "city", "type": "city"},
]
MAPPING = {"given": "given", "family": "family", "email": "mail", "phone": "phone", "city": "city"}
PUBLISH: Mapping[str, object] = {"do": "publish"}


def rows(*values: str) -> str:
    return f"SELECT * FROM VALUES {', '.join(values)} {_COLUMNS}"


def customers(here: ProductsProject) -> tuple[str, str, str]:
    """A data product with two sources; the table of the first, and that source."""
    table = here.table(rows(*CRM))
    crm = here.source({"connector": "lake", "stream": table, "keys": ["id"]})
    succeed(here.run(crm, by=ED))
    return here.product(settings_of(crm, here.refreshed_source(rows(*SHOP)))), table, crm


def settings_of(*sources: str) -> dict[str, object]:
    """The settings of a data product on lists of people."""
    mapped = [{"source": each, "columns": MAPPING, "country": "DE"} for each in sources]
    return {"attributes": ATTRIBUTES, "sources": mapped}


def succeed(run: Run) -> Run:
    assert run.state == "succeeded", run.error
    return run


def entities(here: ProductsProject, product: str) -> dict[object, dict[str, object]]:
    """The golden records by family name."""
    return {row["family"]: row for row in here.table_rows(product, ProductTable.ENTITIES)}


def curated(here: ProductsProject, product: str, edit: str, *values: object) -> None:
    """An act of Carl's."""
    platform, lake = here.inline_runs.shop.platform, here.inline_runs.shop.tables.lake
    with platform.write(CARL) as ctx:
        found = CuratedProduct(ctx, product, lambda: open_entities(ctx, lake, product))
        getattr(overrides if edit == "override" else entity_edits, edit)(found, *values)


def counts(here: ProductsProject, product: str) -> Mapping[str, int]:
    with here.inline_runs.shop.platform.read(ADA) as ctx:
        return versions.need_newest(ctx, product).counts


def test_records_become_entities_that_are_found_once_they_are_published(here: ProductsProject) -> None:
    product, _, crm = customers(here)
    succeed(here.run(product, by=DORA))
    golden = entities(here, product)
    assert {family: row["records"] for family, row in golden.items()} == {
        "Müller": 2,
        "Schmidt": 2,
        "Weber": 1,
        "Fischer": 1,
        "Wagner": 1,
    }
    assert (golden["Müller"]["given"], golden["Müller"]["phone"]) == ("Anna", "+492211234567")
    assert counts(here, product)["new"] == 5
    platform = here.inline_runs.shop.platform
    with platform.read(VERA) as ctx, pytest.raises(NotPublishedError):
        published_entities.search(ctx, platform, product, "anna", limit=5)
    succeed(here.run(product, by=DORA, parameters=PUBLISH))
    uid = str(golden["Müller"]["entity"])
    with platform.read(VERA) as ctx:
        _, page = published_entities.search(ctx, platform, product, "ana mueler", limit=5)
        assert [hit.found.entity for hit in page.hits] == [uid]
        published, found = published_entities.get(ctx, platform, product, uid)
        assert published_entities.source_names(ctx, [*published.origin_sources(found).values()])[crm] == here.name(crm)
        with pytest.raises(DeniedError):
            published_entities.records(ctx, platform, product, uid)
        with pytest.raises(NotFoundError):
            published_entities.get(ctx, platform, product, "e1")
    with platform.read(CARL) as ctx:
        records = published_entities.records(ctx, platform, product, uid)
        assert sorted(each.values["family"] for each in records) == ["MUELLER", "Müller"]
    with platform.read(SAM) as ctx, pytest.raises(HiddenError):
        published_entities.search(ctx, platform, product, "anna", limit=5)


def test_what_curators_say_holds_in_later_runs(here: ProductsProject) -> None:
    product, table, crm = customers(here)
    succeed(here.run(product, by=DORA))
    before = {family: str(row["entity"]) for family, row in entities(here, product).items()}
    curated(here, product, "override", before["Weber"], "city", "Köln")
    curated(here, product, "merge", [before["Fischer"], before["Wagner"]])
    # Bernd has moved, Dieter is gone, and Frieda is new.
    here.fill(
        table, rows(CRM[0], CRM[1].replace("'Köln'", "'Aachen'"), CRM[2], "(9, 'Frieda', 'Koch', NULL, NULL, 'Ulm')")
    )
    succeed(here.run(crm, by=ED))
    succeed(here.run(product, by=DORA))
    golden = entities(here, product)
    assert {family: str(golden[family]["entity"]) for family in ("Müller", "Schmidt", "Weber")} == {
        family: before[family] for family in ("Müller", "Schmidt", "Weber")
    }
    assert golden["Weber"]["city"] == "Köln"
    assert golden["Koch"]["entity"] not in before.values()
    found = counts(here, product)
    assert found["entities"] == len(golden) == 5
    changes = {
        (row["entity"], row["change"])
        for row in here.table_rows(product, ProductTable.CHANGES)
        if row["change"] != "new"
    }
    assert (before["Weber"], "changed") in changes
    assert (before["Müller"], "changed") not in changes
