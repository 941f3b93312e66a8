"""Grants, requests, discovery, view-as, usage and credentials over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lakehold.api.catalog import resource_usage
from lakehold.kit.clock import SECOND
from lakehold.ledger.audit import AuditFilter
from tests.api.client import Api, json_body, problem
from tests.demo_company import DemoPlatform

GRANTS = "/api/v1/resources/orders/grants"


def later(corner: DemoPlatform, days: int) -> str:
    return (datetime.fromtimestamp(corner.hand.at / SECOND, UTC) + timedelta(days=days)).isoformat()


@pytest.mark.flow
def test_a_role_is_given_changed_and_taken_away(api: Api, corner: DemoPlatform) -> None:
    given = json_body(api.post(GRANTS, "mona", {"subject": "nils", "role": "viewer", "until": later(corner, 3)}), 201)
    assert (given["items"][0]["role"], given["items"][0]["until"] is None) == ("viewer", False)
    assert "read" in json_body(api.get("/api/v1/resources/orders", "nils"))["actions"]
    body = {"subject": "nils", "role": "viewer", "new_role": "editor"}
    assert [one["role"] for one in json_body(api.call("PATCH", GRANTS, "mona", json=body))["items"]] == ["editor"]
    mine = json_body(api.get("/api/v1/grants", "nils", params={"subject": "nils"}))["items"]
    assert {(one["role"], one["resource"]["id"]) for one in mine} >= {("editor", "orders")}
    json_body(api.call("DELETE", GRANTS, "mona", params={"subject": "nils", "role": "editor"}), 204)
    problem(api.call("DELETE", GRANTS, "mona", params={"subject": "nils", "role": "editor"}), 404, "not_found")
    problem(api.get("/api/v1/resources/orders", "nils"), 404, "not_found")


def test_who_may_not_give_is_told_who_may(api: Api) -> None:
    denied = problem(api.post(GRANTS, "ana", {"subject": "nils", "role": "viewer"}), 403, "forbidden")
    assert {giver["id"] for giver in denied["givers"]} == {"olga", "adam"}
    problem(api.post(GRANTS, "nils", {"subject": "nils", "role": "viewer"}), 404, "not_found")
    problem(api.post(GRANTS, "mona", {"subject": "nils", "role": "king"}), 422, "invalid_input")
    problem(api.get("/api/v1/grants", "ana", params={"subject": "erik"}), 403, "forbidden")


def test_who_may_is_for_those_who_give(api: Api) -> None:
    where = "/api/v1/resources/orders/who"
    for who in ("mona", "adam"):
        found = json_body(api.get(where, who, params={"action": "edit"}))["items"]
        assert {"erik", "mona"} <= {one["id"] for one in found}
    problem(api.get(where, "ana", params={"action": "edit"}), 403, "forbidden")
    problem(api.get(where, "mona", params={"action": "fly"}), 422, "invalid_input")


def test_a_preview(api: Api) -> None:
    body = {"changes": [{"change": "add", "subject": "nils", "role": "viewer"}]}
    groups = json_body(api.post(f"{GRANTS}/preview", "mona", body))["groups"]
    assert {(group["kind"], group["action"]) for group in groups} >= {("lakehouse.table", "read")}
    problem(api.post(f"{GRANTS}/preview", "ana", body), 403, "forbidden")
    assert json_body(api.get(GRANTS, "mona"))["items"] == []


@pytest.mark.flow
def test_access_is_asked_for_and_given(api: Api, corner: DemoPlatform) -> None:
    asked = json_body(
        api.post("/api/v1/requests", "ana", {"resource": "orders", "action": "edit", "reason": "For the fair."}), 201
    )
    assert (asked["state"], asked["facts"][0]["role"]) == ("pending", "editor")
    waiting = json_body(api.get("/api/v1/requests/waiting", "mona"))["items"]
    assert [(one["id"], one["may_answer"]) for one in waiting] == [(asked["id"], True)]
    where = f"/api/v1/requests/{asked['id']}"
    problem(api.post(f"{where}/approve", "erik", {}), 404, "not_found")
    done = json_body(api.post(f"{where}/approve", "mona", {"until": later(corner, 2)}))
    assert (done["state"], done["decided_by"]) == ("approved", "mona")
    assert "edit" in json_body(api.get("/api/v1/resources/orders", "ana"))["actions"]
    problem(api.post(f"{where}/withdraw", "ana"), 409, "conflict")


def test_a_refusal_and_a_withdrawal(api: Api) -> None:
    first, second = (
        json_body(api.post("/api/v1/requests", "ana", {"resource": uid, "action": "edit"}), 201)["id"]
        for uid in ("orders", "items")
    )
    problem(api.post(f"/api/v1/requests/{first}/refuse", "mona", {"answer": ""}), 422, "invalid_input")
    assert json_body(api.post(f"/api/v1/requests/{first}/refuse", "mona", {"answer": "No."}))["answer"] == "No."
    assert json_body(api.post(f"/api/v1/requests/{second}/withdraw", "ana"))["state"] == "withdrawn"
    page = json_body(api.get("/api/v1/requests", "ana", params={"limit": 1}))
    rest = json_body(api.get("/api/v1/requests", "ana", params={"limit": 1, "after": page["next"]}))
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [second, first]
    assert rest["next"] is None


def test_one_of_the_ways_that_explain_proposes(api: Api) -> None:
    facts = [{"fact": "grant", "subject": "ana", "role": "editor", "resource": "clean"}]
    body = {"resource": "orders", "action": "edit", "facts": facts}
    assert json_body(api.post("/api/v1/requests", "ana", body), 201)["facts"][0]["resource"] == "clean"
    facts[0]["role"] = "manager"
    problem(api.post("/api/v1/requests", "ana", body), 422, "invalid_input")


def test_what_may_not_be_seen_is_asked_for_like_what_is_not_there(api: Api) -> None:
    answers = [
        json_body(api.post("/api/v1/requests", "bella", {"resource": uid, "action": "read"}), 201)
        for uid in ("salaries", "nothing")
    ]
    for answer in answers:
        for name in ("id", "asked_for", "asked_at", "expires_at"):
            answer.pop(name)
    assert answers[0] == answers[1]


def test_what_is_discoverable_is_found_and_asked_for(api: Api) -> None:
    assert json_body(api.get("/api/v1/discover", "nils"))["items"] == []
    tag = {"If-Match": "*"}
    json_body(
        api.call(
            "PATCH", "/api/v1/resources/salaries", "adam", json={"attributes": {"discoverable": True}}, headers=tag
        )
    )
    (found,) = json_body(api.get("/api/v1/discover", "nils", params={"search": "salar"}))["items"]
    assert (found["id"], found["name"], found["workspace"]) == ("salaries", "salaries", None)
    asked = json_body(api.post("/api/v1/requests", "nils", {"resource": "salaries", "action": "read"}), 201)
    assert asked["resource"]["name"] == "salaries"


def test_an_admin_looks_with_anothers_eyes(api: Api, corner: DemoPlatform) -> None:
    problem(api.post("/api/v1/view-as", "bella", {"member": "ana"}), 403, "forbidden")
    problem(api.post("/api/v1/view-as", "adam", {"member": "olga"}), 403, "forbidden")
    assert json_body(api.get("/api/v1/view-as", "adam"))["member"] is None
    seen = json_body(api.post("/api/v1/view-as", "adam", {"member": "bella"}))
    assert (seen["member"]["id"], seen["behind"]) == ("bella", "adam")
    assert json_body(api.get("/api/v1/view-as", "adam")) == seen
    assert json_body(api.get("/api/v1/resources/daily_sales", "adam"))["actions"] == ["see", "use"]
    problem(api.get("/api/v1/resources/salaries", "adam"), 404, "not_found")
    body = {"kind": "marts.destination", "name": "Fax", "edges": {"project": ["sales"]}}
    problem(api.post("/api/v1/resources", "adam", body), 403, "forbidden")
    problem(api.post("/api/v1/tokens", "adam", {"name": "mine"}), 403, "forbidden")
    json_body(api.call("DELETE", "/api/v1/view-as", "adam"), 204)
    assert "delete" in json_body(api.get("/api/v1/resources/salaries", "adam"))["actions"]
    deeds = [line.entry.action for line in corner.log(AuditFilter(member="adam"))]
    assert "view as" in deeds
    assert deeds[0] == "stop viewing as"


def test_looking_with_anothers_eyes_ends_by_itself_and_with_the_right_to_it(api: Api, corner: DemoPlatform) -> None:
    json_body(api.post("/api/v1/view-as", "adam", {"member": "bella"}))
    token = api.token("olga")
    json_body(api.call("PUT", "/api/v1/members/adam/roles", json={"roles": []}, headers={"If-Match": "*"}, token=token))
    assert json_body(api.get("/api/v1/view-as", "adam"))["member"] is None
    json_body(api.post("/api/v1/view-as", "olga", {"member": "bella"}))
    corner.hand.advance_days(1)
    assert json_body(api.get("/api/v1/view-as", "olga"))["member"] is None


def test_last_use(api: Api, corner: DemoPlatform) -> None:
    json_body(api.get("/api/v1/resources/orders", "ana"))
    json_body(api.call("PATCH", "/api/v1/resources/orders", "erik", json={"name": "Orders"}, headers={"If-Match": "*"}))
    resource_usage.flush(corner)
    used = json_body(api.get("/api/v1/resources/orders/usage", "mona"))["items"]
    assert {(one["member"]["id"], one["action"]) for one in used} == {("ana", "see"), ("erik", "edit")}
    assert [one["resource"]["id"] for one in json_body(api.get("/api/v1/usage", "ana"))["items"]] == ["orders"]
    problem(api.get("/api/v1/usage", "ana", params={"member": "erik"}), 403, "forbidden")


def test_credentials_are_set_and_copied(api: Api, corner: DemoPlatform) -> None:
    where = "/api/v1/resources/webshop_db/credentials"
    set_ = api.call("PATCH", where, "tara", json={"credentials": {"password": "hush", "user": "me"}})
    assert json_body(set_) == {"names": ["password", "user"]}
    assert json_body(api.post(f"{where}/copy", "tim"))["credentials"] == {"password": "hush", "user": "me"}
    assert json_body(api.call("PATCH", where, "tara", json={"credentials": {"user": None}})) == {"names": ["password"]}
    problem(api.post(f"{where}/copy", "bella"), 404, "not_found")
    assert [line.entry.member for line in corner.log(AuditFilter(action="copy_credentials", outcome="done"))] == ["tim"]
    problem(api.call("PATCH", where, "tara", json={"credentials": {"user": ""}}), 422, "invalid_input")
