"""Seed 000_e43d1ba18a15cdc7, Access by Entity: each cell of the table Destination, done over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import actions
from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import expected_outcomes
from tests.golden.flows.project_setup import set_up_project
from tests.golden.marts_000 import DESTINATION_CELLS
from tests.golden.marts_world import Cell, every_action, parse_actions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", DESTINATION_CELLS, ids=str)
def test_destination(acme: AcmeSite, cell: Cell, way: type[Way]) -> None:
    place = set_up_project(acme, cell.seat, cell.scope, "sheet", cell.column)
    assert actions.destination(way(place)) == expected_outcomes(
        every_action("destination"), parse_actions(cell.says, "destination")
    )
