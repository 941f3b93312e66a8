"""Runs of data products: from the rows of sources to golden records, one version after the other."""

from __future__ import annotations

from collections import Counter

import pytest

from lakehold.workspaces.products.product_tables import ProductTable
from tests.lake.shop import ED
from tests.workspaces.products.project import DORA, ProductsProject

pytestmark = pytest.mark.slow

CRM = """SELECT * FROM VALUES
(1, 'Anna', 'Müller', 'anna.mueller@example.com', '+49 221 1234567', 'Köln'),
(2, 'Bernd', 'Schmidt', 'bernd@schmidt.example', '0221 7654321', 'Köln'),
(3, 'Clara', 'Weber', 'clara.weber@example.org', NULL, 'Bonn'),
(4, 'Dieter', 'Fischer', NULL, '+49 30 9988776', 'Berlin')
AS crm(id, given, family, mail, phone, city)"""
SHOP = """SELECT * FROM VALUES
('a1', 'ANNA MUELLER', 'anna.mueller@example.com', 'Koeln'),
('a2', 'Schmidt, Bernd', 'bernd@schmidt.example', 'Köln'),
('a3', 'Emil Wagner', 'emil@wagner.example', 'Hamburg')
AS shop(customer, name, mail, city)"""
ATTRIBUTES = [
    {"name": "given", "type": "given name"},
    {"name": "family", "type": "family name"},
    {"name": "email", "type": "email"},
    {"name": "phone", "type": "phone"},
    {"name": "city", "type": "city"},
]


def settings(crm: str, shop: str) -> dict[str, object]:
    return {
        "attributes": ATTRIBUTES,
        "sources": [
            {
                "source": crm,
                "columns": {"given": "given", "family": "family", "email": "mail", "phone": "phone", "city": "city"},
                "country": "DE",
            },
            {"source": shop, "columns": {"email": "mail", "city": "city"}, "country": "DE"},
        ],
    }


def test_a_run_makes_entities_of_the_records_of_several_sources(here: ProductsProject) -> None:
    crm, shop = here.refreshed_source(CRM), here.refreshed_source(SHOP, ("customer",))
    product = here.product(settings(crm, shop))
    run = here.run(product, by=DORA)
    assert run.state == "succeeded", run.error
    members = Counter(str(row["entity"]) for row in here.table_rows(product, ProductTable.MEMBERS))
    assert sorted(members.values()) == [1, 1, 1, 2, 2]
    entities = {row["email"]: row for row in here.table_rows(product, ProductTable.ENTITIES)}
    anna = entities["anna.mueller@example.com"]
    assert (anna["given"], anna["family"], anna["phone"], anna["records"]) == ("Anna", "Müller", "+492211234567", 2)
    again = here.run(product, by=ED)
    assert again.state == "succeeded", again.error
    assert {row["entity"] for row in here.table_rows(product, ProductTable.ENTITIES)} == set(members)
    published = here.run(product, by=DORA, parameters={"do": "publish"})
    assert published.state == "succeeded", published.error
