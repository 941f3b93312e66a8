"""A query runs as its principal: what they may not read is not there, whatever they call it."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import LakeholdError
from tests.lake.shop import ADA, ED, RITA, SAM, Shop


def test_rows_come_as_they_are(shop: Shop) -> None:
    assert shop.ask(RITA, "SELECT count(*), sum(amount) FROM raw.orders")[0][0] == 100
    joined = "SELECT c.name, sum(o.amount) FROM raw.orders o JOIN raw.customers c ON c.id = o.customer GROUP BY ALL"
    assert len(shop.ask(RITA, joined)) == 5
    assert shop.ask(RITA, "SELECT total FROM service.sums") == [(2.5,)]


@pytest.mark.parametrize(
    "name", ["raw.orders", "RAW.Orders", "here.raw.orders", "lake.shop.raw.orders", "`raw`.`orders`"]
)
def test_a_table_has_several_ways_to_be_named(shop: Shop, name: str) -> None:
    assert shop.ask(RITA, f"SELECT count(*) FROM {name}") == [(100,)]


@pytest.mark.parametrize("name", ["secret.hidden", "secret.nothing", "nowhere.hidden", "lake.other.raw.elsewhere"])
def test_what_one_may_not_read_is_as_if_it_were_not_there(shop: Shop, name: str) -> None:
    with pytest.raises(LakeholdError, match="cannot be found") as refused:
        shop.ask(RITA, f"SELECT * FROM {name}")
    assert "hidden" not in str(refused.value) or "hidden" in name


def test_everybody_sees_their_own(shop: Shop) -> None:
    assert shop.ask(ADA, "SELECT word FROM secret.hidden") != []
    assert shop.ask(ED, "SELECT count(*) FROM raw.customers") == [(5,)]
    assert shop.ask(SAM, "SELECT id FROM raw.elsewhere", workspace="Other") == [(7,)]
    with pytest.raises(LakeholdError):
        shop.ask(SAM, "SELECT id FROM lake.shop.raw.orders", workspace="Other")
