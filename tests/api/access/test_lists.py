"""Who may, and what may they: all of it, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from lakehold.access import Attribute
from tests.api.client import Api, json_body, problem

WHO, ACTIONS, RESOURCES = "/api/v1/access/who", "/api/v1/access/can/actions", "/api/v1/access/can/resources"


def pages(api: Api, path: str, by: str, limit: int, **params: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = None
    while True:
        query = {**params, "limit": limit, **({"after": after} if after else {})}
        page = json_body(api.get(path, by, params=query))
        assert len(page["items"]) <= limit
        found += page["items"]
        after = page["next"]
        if after is None:
            return found
        assert page["items"]


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_who_may(corner: Api, limit: int) -> None:
    found = pages(corner, WHO, "adam", limit, action="read", resource="salaries")
    assert [member["id"] for member in found] == ["adam", "carla", "olga"]
    assert found[1]["name"] == "Carla, Curator"


def test_who_may_is_for_those_who_ask_about_others(corner: Api) -> None:
    problem(corner.get(WHO, "carla", params={"action": "read", "resource": "salaries"}), 403, "forbidden")
    problem(corner.get(WHO, "adam", params={"action": "read", "resource": "no_table"}), 404, "not_found")
    problem(corner.get(WHO, "adam", params={"action": "reed", "resource": "salaries"}), 422, "invalid_input")


def test_a_cursor_belongs_to_its_question(corner: Api) -> None:
    page = json_body(corner.get(WHO, "adam", params={"action": "read", "resource": "salaries", "limit": 1}))
    other = {"action": "see", "resource": "salaries", "after": page["next"]}
    problem(corner.get(WHO, "adam", params=other), 422, "invalid_input")


def test_what_may_they_do_with_this(corner: Api) -> None:
    expected = ["see", "read", "see_runs", "edit", "write", "rollback"]
    mine = json_body(corner.get(ACTIONS, "ana", params={"resource": "customer_value"}))
    theirs = json_body(corner.get(ACTIONS, "adam", params={"resource": "customer_value", "subject": "ana"}))
    assert mine == theirs == {"resource": "customer_value", "actions": expected}
    problem(corner.get(ACTIONS, "ana", params={"resource": "salaries"}), 404, "not_found")
    problem(corner.get(ACTIONS, "ana", params={"resource": "orders", "subject": "erik"}), 403, "forbidden")


@pytest.mark.parametrize("limit", [1, 3, 200])
@pytest.mark.parametrize("sort", ["name", "-name", "created", "-created"])
def test_with_what_may_they_do_this(corner: Api, limit: int, sort: str) -> None:
    found = pages(corner, RESOURCES, "ana", limit, action="see", kind="lakehouse.table", sort=sort)
    with corner.platform.access.read("corner") as session:
        listed = session.list("ana", "see", "lakehouse.table", sort=sort).items
    assert [item["id"] for item in found] == [item.uid for item in listed]
    assert len(found) == 16


def test_searched_and_within(corner: Api) -> None:
    params = {"action": "edit", "kind": "lakehouse.table", "within": "raw", "search": "WEB", "sort": "-name"}
    found = pages(corner, RESOURCES, "erik", 1, **params)
    assert [item["id"] for item in found] == ["web_orders", "web_clicks"]
    assert found[0] == {"id": "web_orders", "name": "web_orders", "kind": "lakehouse.table"}


def test_of_somebody_else_only_what_the_asker_sees_is_told_and_counted(corner: Api) -> None:
    with corner.platform.access.write("corner") as session:
        # Not even an Admin sees what lies in a personal space.
        session.store.add(Attribute("serving", "personal", "true"))
    with corner.platform.access.read("corner") as session:
        theirs = {
            member: {item.uid for item in session.list(member, "see", "spaces.app").items}
            for member in session.who("see", "sales_cockpit")
        }
        assert not session.can_see("adam", "sales_cockpit")
        seen = {member: {uid for uid in uids if session.can_see("adam", uid)} for member, uids in theirs.items()}
    assert theirs
    for member, uids in seen.items():
        found = pages(corner, RESOURCES, "adam", 1, subject=member, action="see", kind="spaces.app")
        assert {item["id"] for item in found} == uids
        problem(corner.get(ACTIONS, "adam", params={"resource": "sales_cockpit", "subject": member}), 404, "not_found")


@pytest.mark.parametrize(
    "params",
    [
        {"kind": "lakehouse.tabel", "action": "see"},
        {"kind": "lakehouse.table", "action": "reed"},
        {"kind": "lakehouse.table", "action": "see", "limit": 0},
        {"kind": "lakehouse.table", "action": "see", "limit": 201},
        {"kind": "lakehouse.table", "action": "see", "after": "nonsense"},
        {"kind": "lakehouse.table", "action": "see", "search": "a\0b"},
        {"kind": "lakehouse.table", "action": "see", "sort": "size"},
        {"kind": "lakehouse.table"},
    ],
)
def test_what_cannot_be_listed(corner: Api, params: dict[str, Any]) -> None:
    problem(corner.get(RESOURCES, "ana", params=params), 422, "invalid_input")
