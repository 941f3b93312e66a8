"""Seed 000_e43d1ba18a15cdc7, Access by Entity: each cell of the table Destination, done over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import expected
from tests.golden.flows.placing import placed
from tests.golden.flows.town import Town
from tests.golden.marts_000 import DESTINATION_CELLS
from tests.golden.marts_world import Cell, every_action, named


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", DESTINATION_CELLS, ids=str)
def test_destination(town: Town, cell: Cell, way: type[Way]) -> None:
    place = placed(town, cell.seat, cell.scope, "sheet", cell.column)
    assert acts.destination(way(place)) == expected(every_action("destination"), named(cell.says, "destination"))
