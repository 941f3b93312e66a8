"""access-models.md, marts: reports, deleted destinations and runs, each row done over REST and on pages."""

from __future__ import annotations

import pytest

from tests.golden.flows import acts
from tests.golden.flows.acts import WAYS, Way
from tests.golden.flows.outcomes import expected
from tests.golden.flows.pages import Pages
from tests.golden.flows.placing import placed
from tests.golden.flows.rest import Rest
from tests.golden.flows.town import Town
from tests.golden.marts_settled import DELETED, RUNS
from tests.golden.marts_world import ENTIRE, Seat, every_action

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
