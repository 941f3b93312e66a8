"""Seed 000_e43d1ba18a15cdc7, Access by Entity: each cell of the table Storage, done over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import REFUSED, expected
from tests.golden.flows.pages import Pages
from tests.golden.flows.placing import placed
from tests.golden.flows.town import Town
from tests.golden.marts_000 import STORAGE_CELLS
from tests.golden.marts_world import BU, Cell, every_action, named


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cell", STORAGE_CELLS, ids=str)
def test_storage(town: Town, cell: Cell, way: type[Way]) -> None:
    place = placed(town, cell.seat, cell.scope, "warehouse", cell.column)
    wanted = expected(every_action("storage"), named(cell.says, "storage"))
    if way is Pages and cell.seat.role == BU:
        # The form of a data mart is refused to a Business User before a storage is named.
        wanted["use"] = REFUSED
    assert acts.storage(way(place)) == wanted
