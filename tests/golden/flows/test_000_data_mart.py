"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Data Mart and Data Mart Trigger, over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import actions
from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import expected_outcomes
from tests.golden.flows.project_setup import set_up_project
from tests.golden.marts_000 import DATA_MART_CELLS, DATA_MART_TRIGGER_ROWS
from tests.golden.marts_world import Cell, Row, every_action, parse_actions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", DATA_MART_CELLS, ids=str)
def test_data_mart(acme: AcmeSite, cell: Cell, way: type[Way]) -> None:
    place = set_up_project(acme, cell.seat, cell.scope, "orders", cell.column)
    assert actions.data_mart(way(place)) == expected_outcomes(
        every_action("data_mart"), parse_actions(cell.says, "data_mart")
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", DATA_MART_TRIGGER_ROWS, ids=str)
def test_data_mart_trigger(acme: AcmeSite, row: Row, way: type[Way]) -> None:
    place = set_up_project(acme, row.seat, row.scope, "orders")
    assert actions.triggers(way(place), "orders") == expected_outcomes(["see", "manage"], row.may("manage"))
