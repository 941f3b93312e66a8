"""access-models.md, marts: who may set what. One table: a change, and the people who may make it."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from tests.golden.marts_world import ADMIN, BOTH, BU, TU, Sales, Seat

SHARED = {"warehouse": BOTH, "orders": BOTH, "sheet": BOTH}
EVERYTHING = {"warehouse": "owner", "orders": "technical_owner", "sheet": "owner", "weekly": "owner"}

PEOPLE = {
    "Project Admin": Seat(ADMIN, {}, SHARED),
    "owner (TU)": Seat(TU, EVERYTHING, SHARED),
    "owner (BU)": Seat(BU, EVERYTHING, SHARED),
    "Business Owner (TU)": Seat(TU, {"orders": "business_owner"}, SHARED),
    "non-owner (TU)": Seat(TU, {}, SHARED),
    "non-owner (BU)": Seat(BU, {}, SHARED),
}

SCOPE = Attribute("sales", "scope", "selected_contexts", "bob")
OWN_SCOPE = Attribute("sales", "scope", "entire_project", "ann")
SETTING = Attribute("sales", "technical_users_control_all_reports", "true")

# The columns are PEOPLE, in their order. Everything is shared for both, so non-owners (TU) are maintainers.
Y, N = True, False
MAY_SET: list[tuple[str, Fact, list[bool]]] = [
    ("storage: shared_for_use", Attribute("warehouse", "shared_for_use", "false"), [Y, Y, N, N, N, N]),
    ("storage: shared_for_maintenance", Attribute("warehouse", "shared_for_maintenance", "false"), [Y, Y, N, N, N, N]),
    ("storage: contexts", Edge("contexts", "warehouse", "south"), [Y, Y, N, N, N, N]),
    ("storage: owner", Grant("bob", "owner", "warehouse"), [Y, Y, N, N, N, N]),
    ("data mart: shared_for_reporting", Attribute("orders", "shared_for_reporting", "false"), [Y, Y, N, N, N, N]),
    ("data mart: shared_for_maintenance", Attribute("orders", "shared_for_maintenance", "false"), [Y, Y, N, N, N, N]),
    ("data mart: contexts", Edge("contexts", "orders", "south"), [Y, Y, N, N, N, N]),
    ("data mart: technical owner", Grant("bob", "technical_owner", "orders"), [Y, Y, N, N, N, N]),
    ("data mart: business owner", Grant("bob", "business_owner", "orders"), [Y, Y, N, N, N, N]),
    ("destination: shared_for_use", Attribute("sheet", "shared_for_use", "false"), [Y, Y, Y, N, N, N]),
    ("destination: shared_for_maintenance", Attribute("sheet", "shared_for_maintenance", "false"), [Y, Y, Y, N, N, N]),
    ("destination: contexts", Edge("contexts", "sheet", "south"), [Y, Y, Y, N, N, N]),
    ("destination: owner", Grant("bob", "owner", "sheet"), [Y, Y, Y, N, N, N]),
    ("destination: delete", Attribute("sheet", "deleted", "true"), [Y, Y, Y, Y, Y, Y]),
    ("report: owner", Grant("bob", "owner", "weekly"), [Y, Y, Y, Y, Y, N]),
    ("member: role", Grant("bob", TU, "sales"), [Y, N, N, N, N, N]),
    ("member: scope", SCOPE, [Y, N, N, N, N, N]),
    ("member: one's own scope", OWN_SCOPE, [Y, N, N, N, N, N]),
    ("member: contexts", Grant("bob", "holder", "north"), [Y, N, N, N, N, N]),
    ("member: one's own contexts", Grant("ann", "holder", "north"), [Y, N, N, N, N, N]),
    ("project: technical_users_control_all_reports", SETTING, [Y, N, N, N, N, N]),
]
ROWS = [(change, who, fact, yes) for change, fact, row in MAY_SET for who, yes in zip(PEOPLE, row, strict=True)]


@pytest.mark.parametrize(
    ("change", "who", "fact", "yes"), ROWS, ids=[f"{change} | {who}" for change, who, _, _ in ROWS]
)
def test_who_may_set_what(change: str, who: str, fact: Fact, yes: bool) -> None:
    """marts, contexts and settings: toggles and contexts with configure_sharing, the project's by a Project Admin."""
    sales = PEOPLE[who].sales().colleague("bob", BU)
    assert sales.may_add(fact) == yes, change


@pytest.mark.parametrize(("who", "yes"), list(zip(PEOPLE, [Y, N, N, N, N, N], strict=True)))
def test_who_keeps_the_list_of_contexts(who: str, yes: bool) -> None:
    """marts, contexts: the list of contexts is the Project Admin's."""
    sales = PEOPLE[who].sales()
    assert sales.may_create("context", project="sales") == yes
    assert ("manage_contexts" in sales.may("sales")) == yes
    assert {"edit", "delete"} & sales.may("north") == ({"edit", "delete"} if yes else set())


def test_a_maintainer_cannot_share_again_by_label() -> None:
    """marts, contexts: maintenance is no way to take a context off or put one on."""
    sales = Sales(TU).shared("orders", BOTH)
    assert "edit" in sales.may("orders")
    assert not sales.may_add(Edge("contexts", "orders", "south"))
    assert not sales.may_remove(Edge("contexts", "orders", "north"))
