"""What would a change do, for those who may ask about others, and of what they may see."""

from __future__ import annotations

from typing import Any

from tests.access.model.test_custom import LIBRARY
from tests.api.client import Api, json_body, problem

WHAT_IF = "/api/v1/access/what-if"
UNSHARE = {
    "change": "add",
    "fact": {"fact": "attribute", "resource": "daily_sales", "name": "shared_for_reporting", "value": "false"},
}
WIDEN = {"change": "add", "fact": {"fact": "grant", "subject": "analysts", "role": "viewer", "resource": "clean"}}


def test_counts(corner: Api) -> None:
    groups = json_body(corner.post(WHAT_IF, "adam", {"changes": [UNSHARE]}))["groups"]
    lost = {(group["kind"], group["action"]): (group["members"], group["resources"]) for group in groups}
    assert lost["marts.data_mart", "use"] == (2, 1)
    assert lost["marts.report", "see"] == (2, 2)
    assert not any(group["gained"] for group in groups)


def test_rows_page_by_page_are_what_was_counted(corner: Api) -> None:
    groups = json_body(corner.post(WHAT_IF, "adam", {"changes": [WIDEN]}))["groups"]
    rows: list[dict[str, Any]] = []
    after = None
    while True:
        params = {"limit": 7, **({"after": after} if after else {})}
        page = json_body(corner.post(f"{WHAT_IF}/rows", "adam", {"changes": [WIDEN]}, params=params))
        rows += page["items"]
        after = page["next"]
        if after is None:
            break
    assert len(rows) == sum(group["pairs"] for group in groups) > 7
    assert {"member": "boris", "action": "read", "resource": "orders", "gained": True} in rows


def test_a_cursor_belongs_to_its_changes(corner: Api) -> None:
    page = json_body(corner.post(f"{WHAT_IF}/rows", "adam", {"changes": [WIDEN]}, params={"limit": 1}))
    answer = corner.post(f"{WHAT_IF}/rows", "adam", {"changes": [UNSHARE]}, params={"after": page["next"]})
    problem(answer, 422, "invalid_input")


def test_who_may_not_ask(corner: Api) -> None:
    problem(corner.post(WHAT_IF, "tara", {"changes": [UNSHARE]}), 403, "forbidden")


def test_what_can_never_be(corner: Api) -> None:
    ghost = {"change": "add", "fact": {"fact": "grant", "subject": "ghost", "role": "viewer", "resource": "clean"}}
    problem(corner.post(WHAT_IF, "adam", {"changes": [ghost]}), 404, "not_found")
    king = {"change": "add", "fact": {"fact": "grant", "subject": "ana", "role": "king", "resource": "clean"}}
    problem(corner.post(WHAT_IF, "adam", {"changes": [king]}), 422, "invalid_input")
    problem(corner.post(WHAT_IF, "adam", {"changes": []}), 422, "invalid_input")
    problem(corner.post(WHAT_IF, "adam", {"changes": [{"change": "paint"}]}), 422, "invalid_input")


def test_a_new_model_is_tried_by_those_who_manage_models(corner: Api) -> None:
    change = {"change": "adopt", "source": LIBRARY}
    assert json_body(corner.post(WHAT_IF, "olga", {"changes": [change]})) == {"groups": []}
    problem(corner.post(WHAT_IF, "adam", {"changes": [change]}), 403, "forbidden")
