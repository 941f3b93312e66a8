"""Seed 003_9966c494eaa23fb0: the cells of its tables whose actions have pages that all kinds share, done there.

A button is used if it is offered; what is not offered is sent without one too, with a valid token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from lakehold.web import urls
from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, confirmed_outcome
from tests.golden.flows.pages import Pages
from tests.golden.flows.project import FlowProject
from tests.golden.flows.space import NOBODY, FlowSpace, SpaceSeat, add_people, set_up_space
from tests.golden.flows.test_003_tables import BY_MEMBERS, BY_SECURITY_ROLE, read
from tests.golden.grid import rows
from tests.golden.spaces_world import COLUMNS, SECURITY

LISTED = {
    "List data projects": ("project", "crm"),
    "List data tasks and information about tasks": ("task", "load"),
    "List data tasks and information about assets": ("task", "load"),
    "List data resources (data connections)": ("connection", "erp"),
}
RUN = {"Control data task (run, stop, resume, reload)": "load", "Operate project": "crm"}
OPENED = {"Open project": "crm", "Open data task": "load"}
DELETED = {"Delete data task": "load", "Delete project": "crm", "Delete data connection": "erp"}
SEEN = "See data space in Data Integration home"
DONE_HERE = {SEEN, *LISTED, *RUN, *OPENED, *DELETED}


class SpacePages(Pages):
    """A client on pages, as who sits in the seat."""

    def __init__(self, place: FlowSpace) -> None:
        super().__init__(cast("FlowProject", place), place.seat.who)
        self.space = place

    def sees_space(self) -> str:
        """Its page, and that it is on the page of all workspaces."""
        there = urls.workspace(self.space["sales"])
        page, _ = self.get("/workspaces")
        return confirmed_outcome(self.get(there)[1], happened=there in page.links)

    def lists_in_space(self, kind: str, name: str) -> str:
        """It is in the list of its kind, and its page can be looked at."""
        page, said = self.get(urls.workspace(self.space["sales"], kind))
        listed = said == DONE and urls.resource(self.space[name]) in page.links
        return confirmed_outcome(self.opens(name), happened=listed)

    def opens_runs(self, name: str) -> str:
        """The page of its runs, which those who only list it see without any."""
        run = self.space.start(name, stopped=True)
        page, said = self.get(self.at(name, "runs"))
        alone, linked = self.get(urls.run(run))[1], urls.run(run) in page.links
        if (said, alone, linked) == (DONE, HIDDEN, False):
            return REFUSED if "Runs not visible to you" in page.text else "an empty list"
        return confirmed_outcome(said, happened=linked and alone == DONE)

    def starts(self, name: str) -> str:
        """With the button on the page of its runs."""
        here, there = self.at(name, "runs"), self.at(name, "pipeline/run")
        by = self.space.owner("sales")
        before = self.space.runs(name, by)
        form = self.get(here)[0].form(there)
        said = self.submit(there, form, {}, offered=form is not None)
        return confirmed_outcome(said, happened=len(self.space.runs(name, by) - before) == 1)

    def removes(self, name: str) -> str:
        """With the item of its menu."""
        self._pages.clear()
        said = self.deletes(name)
        return confirmed_outcome(said, happened=self.space.is_gone(name))


def act(place: FlowSpace) -> dict[str, str]:
    """Try everything, in an order in which nothing prevents what comes later."""
    pages = SpacePages(place)
    done = {SEEN: pages.sees_space()}
    done |= {row: pages.lists_in_space(kind, name) for row, (kind, name) in LISTED.items()}
    done |= {row: pages.opens_runs(name) for row, name in OPENED.items()}
    done |= {row: pages.starts(name) for row, name in RUN.items()}
    for row, name in DELETED.items():
        done[row] = pages.removes(name)
        place.delete(name)
    return done


class TriedPages:
    """What came out of each action, tried once for each seat."""

    def __init__(self, acme: AcmeSite) -> None:
        self._acme = acme
        self._done: dict[SpaceSeat, Mapping[str, str]] = {}

    def of(self, seat: SpaceSeat) -> Mapping[str, str]:
        """Return the outcome of each action."""
        if seat not in self._done:
            self._done[seat] = act(set_up_space(self._acme, seat))
        return self._done[seat]


@pytest.fixture(scope="module")
def tried(acme: AcmeSite) -> TriedPages:
    add_people(acme)
    return TriedPages(acme)


MEMBER_SEATS = {column: SpaceSeat((role,)) for column, role in COLUMNS.items()}
SECURITY_SEATS = {column: SpaceSeat(who=role) for column, role in SECURITY.items()}


@rows("seat row expected", (case for case in read(BY_MEMBERS, MEMBER_SEATS) if case[2] in DONE_HERE))
def test_members_of_the_data_space(tried: TriedPages, seat: SpaceSeat, row: str, expected: bool) -> None:
    assert tried.of(seat)[row] == (DONE if expected else REFUSED)


@rows("seat row expected", (case for case in read(BY_SECURITY_ROLE, SECURITY_SEATS) if case[2] in DONE_HERE))
def test_users_with_security_roles(tried: TriedPages, seat: SpaceSeat, row: str, expected: bool) -> None:
    hidden = seat == SECURITY_SEATS["Data space creator"]
    assert tried.of(seat)[row] == (DONE if expected else HIDDEN if hidden else REFUSED)


def test_security_roles_run_nothing(tried: TriedPages) -> None:
    for column in ("Tenant admin", "Data admin"):
        assert {tried.of(SECURITY_SEATS[column])[row] for row in RUN} == {REFUSED}


def test_without_a_role_there_is_nothing(tried: TriedPages) -> None:
    assert set(tried.of(SpaceSeat(who=NOBODY)).values()) == {HIDDEN}
