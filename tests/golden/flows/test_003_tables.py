"""Seed 003_9966c494eaa23fb0: each cell of the tables of data spaces, done over REST.

The cells are those of `tests.golden.test_spaces_003_tables`, in the words of the seed. Everything is tried from every
seat, also what a table does not mention: a security role may do what its tables say and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.golden.flows.acme import AcmeSite
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, combined_outcome
from tests.golden.flows.space import CONNECTION, NOBODY, QUERY, FlowSpace, SpaceSeat, add_people, set_up_space
from tests.golden.flows.space_rest import SpaceRest
from tests.golden.grid import cells, rows
from tests.golden.spaces_world import COLUMNS, SECURITY
from tests.golden.test_spaces_003_tables import (
    GIVEN,
    ON_PROJECTS,
    ON_SPACE,
    ON_TASKS,
    PROJECTS_BY_SECURITY_ROLE,
    SEED_MARKS,
    SPACES_BY_SECURITY_ROLE,
    TASKS_BY_SECURITY_ROLE,
)

MEMBERS, NAMES = "Change space name, description, members, and roles", "Change space name and description"
CONTROL = "Control data task (run, stop, resume, reload)"
ASSETS = "List data tasks and information about assets"
TASKS = "List data tasks and information about tasks"
OTHER_QUERY = {**QUERY, "datasets": [{"name": "one", "sql": "SELECT 2 AS one"}]}


def act(place: FlowSpace, other: FlowSpace) -> dict[str, str]:
    """Try everything, in an order in which nothing prevents what comes later."""
    rest = SpaceRest(place)
    done = {
        "Create data space": rest.creates_space(),
        "See data space in Data Integration home": rest.sees_space(),
        "List data projects": rest.lists("project", "crm"),
        TASKS: rest.lists("task", "load"),
        "List data resources (data connections)": rest.lists("connection", "erp"),
        "Open project": rest.opens("crm"),
        "Open data task": rest.opens("load"),
        "Create project": rest.creates("project", {"space": "sales"}, {}),
        "Update project": rest.renames("crm"),
        "Create data task": rest.creates("task", {"project": "crm"}, QUERY),
        "Edit data task attribute": rest.renames("load"),
        CONTROL: combined_outcome(
            *(rest.runs("load"), rest.stops("load"), rest.resumes("load"), rest.runs("load", reload=True))
        ),
        "Operate project": combined_outcome(
            *(rest.runs("crm"), rest.stops("crm"), rest.resumes("crm"), rest.runs("crm", reload=True))
        ),
        "Update data task": rest.sets("load", OTHER_QUERY),
        "Add data connection": rest.creates("connection", {"space": "sales"}, CONNECTION),
        "Edit data connection": rest.sets("erp", {**CONNECTION, "user": "another"}),
        "Change owner of project": rest.transfers("crm"),
        "Change owner of data task": rest.transfers("load"),
        "Change owner of data connection": rest.transfers("erp"),
        "Change space of data connection": rest.moves("edge_erp", other["sales"]),
        NAMES: rest.renames("sales"),
        "Change members and roles": combined_outcome(*(rest.adds_member(role) for role in GIVEN)),
        "Delete data task": rest.deletes("load"),
        "Delete data connection": rest.deletes("erp"),
        "Change space owner": rest.transfers("sales"),
    }
    place.delete("load")
    done["Delete project"] = rest.deletes("crm")
    for name in ("crm", "erp", "edge_erp", "edge"):
        place.delete(name)
    done["Delete space"] = rest.deletes("sales")
    return done | {MEMBERS: combined_outcome(done[NAMES], done["Change members and roles"]), ASSETS: done[TASKS]}


class Tried:
    """What came out of each action, tried once for each seat."""

    def __init__(self, acme: AcmeSite) -> None:
        self._acme = acme
        self._done: dict[SpaceSeat, Mapping[str, str]] = {}
        self._other = set_up_space(acme, SpaceSeat())

    def of(self, seat: SpaceSeat) -> Mapping[str, str]:
        """Return the outcome of each action."""
        if seat not in self._done:
            place = set_up_space(self._acme, seat)
            place.add("spaces.connection", "edge_erp", "sales", CONNECTION)
            self._done[seat] = act(place, self._other)
        return self._done[seat]


@pytest.fixture(scope="module")
def tried(acme: AcmeSite) -> Tried:
    add_people(acme)
    return Tried(acme)


BY_MEMBERS = (ON_SPACE, ON_PROJECTS, ON_TASKS)
BY_SECURITY_ROLE = (SPACES_BY_SECURITY_ROLE, PROJECTS_BY_SECURITY_ROLE, TASKS_BY_SECURITY_ROLE)


def read(tables: tuple[str, ...], seats: Mapping[str, SpaceSeat]) -> Iterator[tuple[str, SpaceSeat, str, bool]]:
    for text in tables:
        for cell in cells(text):
            yield f"003 {cell.row} | {cell.column}", seats[cell.column], cell.row, SEED_MARKS[cell.value]


MEMBER_SEATS = {column: SpaceSeat((role,)) for column, role in COLUMNS.items()}
SECURITY_SEATS = {column: SpaceSeat(who=role) for column, role in SECURITY.items()}


@rows("seat row expected", read(BY_MEMBERS, MEMBER_SEATS))
def test_members_of_the_data_space(tried: Tried, seat: SpaceSeat, row: str, expected: bool) -> None:
    assert tried.of(seat)[row] == (DONE if expected else REFUSED)


@rows("seat row expected", read(BY_SECURITY_ROLE, SECURITY_SEATS))
def test_users_with_security_roles(tried: Tried, seat: SpaceSeat, row: str, expected: bool) -> None:
    hidden = seat == SECURITY_SEATS["Data space creator"]
    assert tried.of(seat)[row] == (DONE if expected else HIDDEN if hidden else REFUSED)


def yes(tables: tuple[str, ...], column: str) -> set[str]:
    """The rows that say yes to a column."""
    return {cell.row for text in tables for cell in cells(text) if cell.column == column and SEED_MARKS[cell.value]}


@pytest.mark.parametrize("column", COLUMNS)
def test_members_do_nothing_else(tried: Tried, column: str) -> None:
    allowed = yes(BY_MEMBERS, column)
    may = {
        *allowed,
        *({NAMES, "Change members and roles"} if MEMBERS in allowed else ()),
        *({ASSETS} if TASKS in allowed else ()),
    }
    done = {row for row, said in tried.of(MEMBER_SEATS[column]).items() if said == DONE}
    assert done == may


@pytest.mark.parametrize("column", SECURITY)
def test_security_roles_do_nothing_else(tried: Tried, column: str) -> None:
    """access-models.md: tenant admins and data admins change members too; see 003, first paragraph."""
    may = yes(BY_SECURITY_ROLE, column)
    may |= {TASKS, "Change members and roles", MEMBERS} if ASSETS in may else set()
    assert {row for row, said in tried.of(SECURITY_SEATS[column]).items() if said == DONE} == may


def test_without_a_role_there_is_nothing(tried: Tried) -> None:
    done = dict(tried.of(SpaceSeat(who=NOBODY)))
    assert done.pop("Create data space") == REFUSED
    assert set(done.values()) == {HIDDEN}


UNIONS = [("can_view", "can_consume_data"), ("can_manage", "can_operate"), ("can_operate", "can_edit")]


@pytest.mark.parametrize("roles", UNIONS, ids=" and ".join)
def test_two_roles_are_a_union(tried: Tried, roles: tuple[str, str]) -> None:
    first, second, both = (
        {row for row, said in tried.of(SpaceSeat(some)).items() if said == DONE}
        for some in ((roles[0],), (roles[1],), roles)
    )
    assert both == first | second
