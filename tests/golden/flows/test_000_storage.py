"""Seed 000_e43d1ba18a15cdc7, Access by Entity: each cell of the table Storage, done over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import actions
from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import REFUSED, expected_outcomes
from tests.golden.flows.pages import Pages
from tests.golden.flows.project_setup import set_up_project
from tests.golden.marts_000 import STORAGE_CELLS
from tests.golden.marts_world import BU, Cell, every_action, parse_actions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", STORAGE_CELLS, ids=str)
def test_storage(acme: AcmeSite, cell: Cell, way: type[Way]) -> None:
    place = set_up_project(acme, cell.seat, cell.scope, "warehouse", cell.column)
    expected_result = expected_outcomes(every_action("storage"), parse_actions(cell.says, "storage"))
    if way is Pages and cell.seat.role == BU:
        # The form of a data mart is refused to a Business User before a storage is named.
        expected_result["use"] = REFUSED
    assert actions.storage(way(place)) == expected_result
