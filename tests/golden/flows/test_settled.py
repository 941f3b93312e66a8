"""access-models.md, marts: reports, deleted destinations and runs, each row done over REST and on pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.golden.flows import actions
from tests.golden.flows.acme import OLGA, AcmeSite
from tests.golden.flows.actions import WAYS, Way
from tests.golden.flows.outcomes import DONE, REFUSED, expected_outcomes
from tests.golden.flows.pages import Pages
from tests.golden.flows.project_setup import set_up_project
from tests.golden.flows.rest import Rest
from tests.golden.marts_settled import DELETED, MAINTAINED, READ, REPORT_OWNER, RUNS
from tests.golden.marts_world import ADMIN, BU, ENTIRE, TU, Seat, every_action

RUN = ("see", "stop", "delete")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("seat", "scope", "may"), [row[1:] for row in DELETED], ids=[row[0] for row in DELETED])
def test_a_deleted_destination(acme: AcmeSite, seat: Seat, scope: str, may: set[str], way: type[Way]) -> None:
    """See and restore only. Who may restore it may do that though they do not see it."""
    place = set_up_project(acme, seat, scope, "sheet")
    place.set("sheet", deleted=True)
    by = Rest(place) if way is Rest else Pages(place, instead="This destination is deleted")
    assert actions.gone_destination(by) == expected_outcomes(every_action("destination"), may)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("seat", "of_report", "of_mart"), [row[1:] for row in RUNS], ids=[row[0] for row in RUNS])
def test_runs(acme: AcmeSite, seat: Seat, of_report: set[str], of_mart: set[str], way: type[Way]) -> None:
    """See as the mart, stop with edit on it or run on the report, delete as Project Admin."""
    place = set_up_project(acme, seat, ENTIRE, "weekly")
    assert actions.runs(way(place), "weekly") == expected_outcomes(RUN, of_report)
    assert actions.runs(way(place), "orders") == expected_outcomes(RUN, of_mart)


# Running without a destination passes or fails the permission and is then a clear 409. Reassigning a report's owner
# does not unlock it; restoring or replacing its destination does.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seat", [Seat(ADMIN), Seat(TU, {}, MAINTAINED)], ids=["admin", "edit on the mart"])
def test_a_run_without_a_destination_is_a_clear_conflict(acme: AcmeSite, seat: Seat, way: type[Way]) -> None:
    place = set_up_project(acme, replace(seat, deleted=True), ENTIRE, "weekly")
    by = way(place)
    said = by.runs("weekly")
    # A page is shown anew, with the same words.
    reason = Pages(place).get(by.at("weekly"))[0].text if isinstance(by, Pages) else said
    assert said == DONE if way is Pages else said.startswith("409")
    assert "is gone." in reason
    assert "choose another destination" in reason
    assert place.runs("weekly") == []


@pytest.mark.parametrize("way", WAYS)
def test_another_owner_does_not_unlock_a_report_and_its_destination_does(acme: AcmeSite, way: type[Way]) -> None:
    place = set_up_project(acme, Seat(BU, {}, READ, deleted=True), ENTIRE, "weekly")
    place.give("weekly", "owner")
    acme.is_used = True
    locked = expected_outcomes(every_action("report"), ["see"])
    assert actions.report(way(place)) == locked
    assert way(place, OLGA).restores("sheet") == DONE
    assert actions.report(way(place)) == expected_outcomes(every_action("report"), every_action("report"))


@pytest.mark.parametrize("way", WAYS)
def test_a_report_is_unlocked_by_a_destination_in_place_of_the_one_that_is_gone(acme: AcmeSite, way: type[Way]) -> None:
    place = set_up_project(acme, Seat(BU, REPORT_OWNER, READ, deleted=True), ENTIRE, "weekly")
    assert way(place).sends_to("weekly", "post") == REFUSED
    assert way(place, OLGA).sends_to("weekly", "post") == DONE
    assert actions.report(way(place)) == expected_outcomes(every_action("report"), every_action("report"))
