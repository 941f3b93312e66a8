"""access-models.md, marts: reports, deleted destinations and runs, each row done over REST and on pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import DONE, REFUSED, expected
from tests.golden.flows.pages import Pages
from tests.golden.flows.placing import placed
from tests.golden.flows.rest import Rest
from tests.golden.flows.town import OLGA, Town
from tests.golden.marts_settled import DELETED, MAINTAINED, READ, REPORT_OWNER, RUNS
from tests.golden.marts_world import ADMIN, BU, ENTIRE, TU, Seat, every_action

RUN = ("see", "stop", "delete")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("seat", "scope", "may"), [row[1:] for row in DELETED], ids=[row[0] for row in DELETED])
def test_a_deleted_destination(town: Town, seat: Seat, scope: str, may: set[str], way: type[Way]) -> None:
    """See and restore only. Who may restore it may do that though they do not see it."""
    place = placed(town, seat, scope, "sheet")
    place.set("sheet", deleted=True)
    by = Rest(place) if way is Rest else Pages(place, instead="This destination is deleted")
    assert acts.gone_destination(by) == expected(every_action("destination"), may)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("seat", "of_report", "of_mart"), [row[1:] for row in RUNS], ids=[row[0] for row in RUNS])
def test_runs(town: Town, seat: Seat, of_report: set[str], of_mart: set[str], way: type[Way]) -> None:
    """See as the mart, stop with edit on it or run on the report, delete as Project Admin."""
    place = placed(town, seat, ENTIRE, "weekly")
    assert acts.runs(way(place), "weekly") == expected(RUN, of_report)
    assert acts.runs(way(place), "orders") == expected(RUN, of_mart)


# Running without a destination passes or fails the permission and is then a clear 409. Reassigning a report's owner
# does not unlock it; restoring or replacing its destination does.


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seat", [Seat(ADMIN), Seat(TU, {}, MAINTAINED)], ids=["admin", "edit on the mart"])
def test_a_run_without_a_destination_is_a_clear_conflict(town: Town, seat: Seat, way: type[Way]) -> None:
    place = placed(town, replace(seat, deleted=True), ENTIRE, "weekly")
    by = way(place)
    said = by.runs("weekly")
    # A page is shown anew, with the same words.
    told = Pages(place).get(by.at("weekly"))[0].text if isinstance(by, Pages) else said
    assert said == DONE if way is Pages else said.startswith("409")
    assert "is gone." in told
    assert "choose another destination" in told
    assert place.runs("weekly") == []


@pytest.mark.parametrize("way", WAYS)
def test_another_owner_does_not_unlock_a_report_and_its_destination_does(town: Town, way: type[Way]) -> None:
    place = placed(town, Seat(BU, {}, READ, deleted=True), ENTIRE, "weekly")
    place.give("weekly", "owner")
    town.spent = True
    locked = expected(every_action("report"), ["see"])
    assert acts.report(way(place)) == locked
    assert way(place, OLGA).restores("sheet") == DONE
    assert acts.report(way(place)) == expected(every_action("report"), every_action("report"))


@pytest.mark.parametrize("way", WAYS)
def test_a_report_is_unlocked_by_a_destination_in_place_of_the_one_that_is_gone(town: Town, way: type[Way]) -> None:
    place = placed(town, Seat(BU, REPORT_OWNER, READ, deleted=True), ENTIRE, "weekly")
    assert way(place).sends_to("weekly", "post") == REFUSED
    assert way(place, OLGA).sends_to("weekly", "post") == DONE
    assert acts.report(way(place)) == expected(every_action("report"), every_action("report"))
