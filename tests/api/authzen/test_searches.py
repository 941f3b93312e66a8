"""AuthZEN 1.0: which subjects, resources and actions; and where everything is."""

from __future__ import annotations

from typing import Any

import pytest

from lakehold.access import Attribute
from tests.api.client import Api, json_body, problem

SEARCH = "/access/v1/search"
ERIK = {"type": "member", "id": "erik"}
SALARIES = {"type": "lakehouse.table", "id": "salaries"}


def found(api: Api, by: str, what: str, limit: int | None, **body: object) -> list[str]:
    """All results, page by page, as the standard goes through them."""
    page: dict[str, Any] = {} if limit is None else {"limit": limit}
    results: list[dict[str, str]] = []
    while True:
        answer = json_body(api.post(f"{SEARCH}/{what}", by, {**body, **({"page": page} if page else {})}))
        assert answer["page"]["count"] == len(answer["results"])
        results += answer["results"]
        if not answer["page"]["next_token"]:
            return [each.get("id") or each["name"] for each in results]
        page = {"token": answer["page"]["next_token"]}


@pytest.mark.parametrize("limit", [None, 1, 2, 200])
def test_subjects(corner: Api, limit: int | None) -> None:
    asked = {"subject": {"type": "member"}, "action": {"name": "read"}, "resource": SALARIES}
    assert found(corner, "adam", "subject", limit, **asked) == ["adam", "carla", "olga"]
    ignored = {**asked, "subject": {"type": "member", "id": "nils"}}
    assert found(corner, "adam", "subject", limit, **ignored) == ["adam", "carla", "olga"]


@pytest.mark.parametrize("limit", [None, 1, 3])
def test_resources(corner: Api, limit: int | None) -> None:
    asked = {"subject": ERIK, "action": {"name": "edit"}, "resource": {"type": "table"}}
    uids = found(corner, "erik", "resource", limit, **asked)
    with corner.platform.access.read("corner") as session:
        assert uids == [item.uid for item in session.list("erik", "edit", "lakehouse.table").items]
    assert found(corner, "adam", "resource", limit, **asked) == uids
    for uid in uids[:3]:
        evaluation = {**asked, "resource": {"type": "table", "id": uid}}
        assert json_body(corner.post("/access/v1/evaluation", "erik", evaluation))["decision"]


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_actions(corner: Api, limit: int | None) -> None:
    asked = {"subject": {"type": "member", "id": "ana"}, "resource": {"type": "table", "id": "customer_value"}}
    expected = ["see", "read", "see_runs", "edit", "write", "rollback"]
    assert found(corner, "ana", "action", limit, **asked) == expected
    assert found(corner, "adam", "action", limit, **asked) == expected


def test_what_is_unknown_or_unseen_has_no_results(corner: Api) -> None:
    for uid in ("salaries", "no_table"):
        asked = {"subject": ERIK, "resource": {"type": "table", "id": uid}}
        assert found(corner, "erik", "action", None, **asked) == []
    with corner.platform.access.write("corner") as session:
        # Not even an Admin sees what lies in a personal space.
        session.store.add(Attribute("serving", "personal", "true"))
    who = {"subject": {"type": "member"}, "action": {"name": "see"}, "resource": {"type": "app", "id": "sales_cockpit"}}
    assert found(corner, "adam", "subject", None, **who) == []
    ghost = {"subject": {"type": "member", "id": "ghost"}, "action": {"name": "see"}, "resource": {"type": "table"}}
    assert found(corner, "adam", "resource", None, **ghost) == []


def test_about_others(corner: Api) -> None:
    read = {"action": {"name": "read"}}
    for by, what, asked in (
        ("carla", "subject", {"subject": {"type": "member"}, **read, "resource": SALARIES}),
        ("ana", "resource", {"subject": ERIK, **read, "resource": {"type": "table"}}),
        ("ana", "action", {"subject": ERIK, "resource": SALARIES}),
    ):
        problem(corner.post(f"{SEARCH}/{what}", by, asked), 403, "forbidden")


def test_a_token_is_good_for_the_search_that_it_came_from(corner: Api) -> None:
    asked = {"subject": ERIK, "action": {"name": "edit"}, "resource": {"type": "table"}, "page": {"limit": 2}}
    token = json_body(corner.post(f"{SEARCH}/resource", "erik", asked))["page"]["next_token"]
    again = {**asked, "page": {"limit": 2, "token": token}}
    assert len(json_body(corner.post(f"{SEARCH}/resource", "erik", again))["results"]) == 2
    for other in (
        {**asked, "action": {"name": "see"}, "page": {"token": token}},
        {**asked, "page": {"token": token, "limit": 3}},
        {**asked, "page": {"token": "nonsense"}},
        {**asked, "page": {"limit": 0}},
        {**asked, "context": {"hour": 1}, "page": {"token": token}},
    ):
        json_body(corner.post(f"{SEARCH}/resource", "erik", other), 400)


@pytest.mark.parametrize("what", ["subject", "resource", "action"])
def test_a_search_that_cannot_be_used_is_a_bad_request(corner: Api, what: str) -> None:
    json_body(corner.post(f"{SEARCH}/{what}", "adam", {}), 400)


def test_where_everything_is(corner: Api) -> None:
    answer = corner.get("/.well-known/authzen-configuration")
    base = corner.platform.settings.base_url
    assert json_body(answer) == {
        "policy_decision_point": base,
        "access_evaluation_endpoint": f"{base}/access/v1/evaluation",
        "access_evaluations_endpoint": f"{base}/access/v1/evaluations",
        "search_subject_endpoint": f"{base}/access/v1/search/subject",
        "search_resource_endpoint": f"{base}/access/v1/search/resource",
        "search_action_endpoint": f"{base}/access/v1/search/action",
    }
    for name, address in json_body(answer).items():
        if name.endswith("_endpoint"):
            json_body(corner.post(address.removeprefix(base), "adam", {}), 400)
