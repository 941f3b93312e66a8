"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Data Mart and Data Mart Trigger, over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import expected
from tests.golden.flows.placing import placed
from tests.golden.flows.town import Town
from tests.golden.marts_000 import DATA_MART_CELLS, DATA_MART_TRIGGER_ROWS
from tests.golden.marts_world import Cell, Row, every_action, named


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", DATA_MART_CELLS, ids=str)
def test_data_mart(town: Town, cell: Cell, way: type[Way]) -> None:
    place = placed(town, cell.seat, cell.scope, "orders", cell.column)
    assert acts.data_mart(way(place)) == expected(every_action("data_mart"), named(cell.says, "data_mart"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", DATA_MART_TRIGGER_ROWS, ids=str)
def test_data_mart_trigger(town: Town, row: Row, way: type[Way]) -> None:
    place = placed(town, row.seat, row.scope, "orders")
    assert acts.triggers(way(place), "orders") == expected(["see", "manage"], row.may("manage"))
