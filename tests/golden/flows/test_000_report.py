"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Report and Report Trigger, over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import expected
from tests.golden.flows.placing import placed
from tests.golden.flows.town import Town
from tests.golden.marts_000 import OWNERS, REPORT_ROWS, REPORT_TRIGGER_ROWS
from tests.golden.marts_world import NO_OVERLAP, Row, Seat, every_action

MORE = ("edit", "delete", "run", "manage_owners")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", REPORT_ROWS, ids=str)
def test_report(town: Town, row: Row, way: type[Way]) -> None:
    place = placed(town, row.seat, row.scope, "weekly")
    assert acts.report(way(place)) == expected(every_action("report"), row.may(*MORE))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seat", OWNERS, ids=str)
def test_a_report_owner_out_of_context_keeps_all_but_run(town: Town, seat: Seat, way: type[Way]) -> None:
    """000 Report | Report Owner (Destination exists), no overlap: the gate closes use on the mart, so run alone."""
    place = placed(town, seat, NO_OVERLAP, "weekly")
    assert acts.report(way(place)) == expected(every_action("report"), ["see", "edit", "delete", "manage_owners"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", REPORT_TRIGGER_ROWS, ids=str)
def test_report_trigger(town: Town, row: Row, way: type[Way]) -> None:
    place = placed(town, row.seat, row.scope, "weekly")
    assert acts.triggers(way(place), "weekly") == expected(["see", "manage"], row.may("manage"))
