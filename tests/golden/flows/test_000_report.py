"""Seed 000_e43d1ba18a15cdc7, Access by Entity: the tables Report and Report Trigger, over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import actions
from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import expected_outcomes
from tests.golden.flows.project_setup import set_up_project
from tests.golden.marts_000 import OWNERS, REPORT_ROWS, REPORT_TRIGGER_ROWS
from tests.golden.marts_world import NO_OVERLAP, Row, Seat, every_action

MORE = ("edit", "delete", "run", "manage_owners")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", REPORT_ROWS, ids=str)
def test_report(acme: AcmeSite, row: Row, way: type[Way]) -> None:
    place = set_up_project(acme, row.seat, row.scope, "weekly")
    assert actions.report(way(place)) == expected_outcomes(every_action("report"), row.may(*MORE))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seat", OWNERS, ids=str)
def test_a_report_owner_out_of_context_keeps_all_but_run(acme: AcmeSite, seat: Seat, way: type[Way]) -> None:
    """000 Report | Report Owner (Destination exists), no overlap: the gate closes use on the mart, so run alone."""
    place = set_up_project(acme, seat, NO_OVERLAP, "weekly")
    assert actions.report(way(place)) == expected_outcomes(
        every_action("report"), ["see", "edit", "delete", "manage_owners"]
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", REPORT_TRIGGER_ROWS, ids=str)
def test_report_trigger(acme: AcmeSite, row: Row, way: type[Way]) -> None:
    place = set_up_project(acme, row.seat, row.scope, "weekly")
    assert actions.triggers(way(place), "weekly") == expected_outcomes(["see", "manage"], row.may("manage"))
