"""Curation over REST: each operation by each caller as a table, and a curator's day as a flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.routing import APIRoute

from lakehold.api.http.app import assemble_app, operations
from lakehold.workspaces.products.api import curation_acts, merge_suggestions, named_views
from lakehold.workspaces.products.api import pair_queue as queue_api
from lakehold.workspaces.products.curation import pair_queue
from tests.api.client import Api, Json, json_body, problem
from tests.workspaces.products.curation.customers import ELSEWHERE, PAIRS, PRODUCT, STRANGER, Customers

BASE = f"/api/v1/data-products/{PRODUCT}"
PREFIX = "/api/v1/data-products/"
VIEW = {"name": "Germany", "filters": [{"attribute": "city", "operator": "is", "value": "Ulm"}], "columns": ["city"]}

RIGHTS = """
operation | admin | developer | curator | viewer | nobody | stranger | narrowed | viewing
list_queue | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 200
get_queue_progress | 200 | 200 | 200 | 403 | 404 | 404 | 403 | 200
assign_queue | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
release_queue | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
answer_pair | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
override_attribute | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
clear_attribute_override | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
merge_entities | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
split_entity | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
move_record | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
create_entity | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
verify_entity | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
unverify_entity | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
verify_record | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
unverify_record | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
comment_on_entity | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
list_entity_history | 200 | 200 | 200 | 200 | 404 | 404 | 200 | 403
list_curation_acts | 200 | 200 | 200 | 403 | 404 | 404 | 403 | 403
undo_curation_act | 201 | 403 | 201 | 403 | 404 | 404 | 403 | 403
suggest_merge | 201 | 201 | 201 | 201 | 404 | 404 | 403 | 403
list_merge_suggestions | 200 | 200 | 200 | 200 | 404 | 404 | 403 | 200
accept_merge_suggestion | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
reject_merge_suggestion | 200 | 403 | 200 | 403 | 404 | 404 | 403 | 403
list_product_views | 200 | 200 | 200 | 200 | 404 | 404 | 200 | 200
create_product_view | 201 | 201 | 201 | 403 | 404 | 404 | 403 | 403
change_product_view | 200 | 200 | 200 | 403 | 404 | 404 | 403 | 403
delete_product_view | 204 | 403 | 204 | 403 | 404 | 404 | 403 | 403
"""
_HEAD, *_LINES = [[cell.strip() for cell in line.split("|")] for line in RIGHTS.strip().splitlines()]
TABLE = {name: dict(zip(_HEAD[1:], map(int, cells), strict=True)) for name, *cells in _LINES}

DOCUMENT = assemble_app().openapi()
NAMES = {
    route.name
    for each in (curation_acts, merge_suggestions, named_views, queue_api)
    for route in each.routes.routes
    if isinstance(route, APIRoute)
}
OPERATIONS = {
    found["operationId"]: (method.upper(), path)
    for path, method, found in operations(DOCUMENT)
    if path.startswith(PREFIX) and found["operationId"] in NAMES
}


@dataclass(slots=True)
class Visit:
    """One operation, its body, and what has to be there before it is called."""

    body: Json = None
    places: Callable[[Api], dict[str, Any]] = lambda _: {}


def post(api: Api, path: str, body: Json, status: int = 201) -> Json:
    return json_body(api.post(f"{BASE}{path}", "ada", body), status)


def put(api: Api, path: str, body: Json = None) -> Json:
    return json_body(api.call("PUT", f"{BASE}{path}", "ada", json=body))


def suggestion(api: Api) -> dict[str, Any]:
    return {"number": post(api, "/suggestions", {"entities": ["e2", "e4"]})["number"]}


def view(api: Api) -> dict[str, Any]:
    there = json_body(api.get(f"{BASE}/views", "ada"))["items"]
    return {"view": there[0]["id"] if there else post(api, "/views", VIEW)["id"]}


def no_view(api: Api) -> dict[str, Any]:
    for each in json_body(api.get(f"{BASE}/views", "ada"))["items"]:
        api.call("DELETE", f"{BASE}/views/{each['id']}", "ada")
    return {}


def overridden(api: Api) -> dict[str, Any]:
    put(api, "/entities/e1/overrides/city", {"value": "Rom"})
    return {}


def comment(api: Api) -> dict[str, Any]:
    return {"number": post(api, "/entities/e1/comments", {"text": "Hm."})["number"]}


DEFAULT_PLACES = {"product": PRODUCT, "entity": "e1", "record": "r1", "attribute": "city", "member": "curator"}
VISITS: dict[str, Visit] = {
    "assign_queue": Visit({"count": 1}),
    "answer_pair": Visit({"record_a": "r1", "record_b": "r4", "answer": "same"}),
    "override_attribute": Visit({"value": "Rom"}),
    "clear_attribute_override": Visit(places=overridden),
    "merge_entities": Visit({"entities": ["e1", "e3"]}),
    "split_entity": Visit({"entity": "e1", "records": ["r1"]}),
    "move_record": Visit({"record": "r1", "entity": "e2"}),
    "create_entity": Visit({"records": ["r1", "r2"]}),
    "comment_on_entity": Visit({"text": "Hm."}),
    "undo_curation_act": Visit({}, comment),
    "suggest_merge": Visit({"entities": ["e1", "e2"], "note": "Same phone."}),
    "accept_merge_suggestion": Visit(places=suggestion),
    "reject_merge_suggestion": Visit({}, suggestion),
    "create_product_view": Visit(VIEW, no_view),
    "change_product_view": Visit(VIEW, view),
    "delete_product_view": Visit(places=view),
}


@pytest.fixture
def tokens(api: Api) -> dict[str, str]:
    """A token of each caller. Ann views as the curator; the narrowed one is the admin's."""
    found = {role: api.token(role) for role in ("admin", "developer", "curator", "viewer")}
    found |= {"nobody": api.token("bob"), "stranger": api.token(STRANGER, ELSEWHERE), "viewing": api.token("ann")}
    found["narrowed"] = api.token("admin", actions=frozenset({"see", "see_in_list", "view_360"}))
    json_body(api.post("/api/v1/view-as", "ann", {"member": "curator"}))
    return found


def test_the_table_has_every_operation() -> None:
    assert OPERATIONS.keys() == TABLE.keys()


@pytest.mark.flow
def test_each_caller_may_do_what_the_table_says(customers: Customers, api: Api, tokens: dict[str, str]) -> None:
    with customers.act("developer") as product:
        pair_queue.replace_queue(product.ctx, PRODUCT, "run_1", PAIRS)
    for name, row in TABLE.items():
        method, path = OPERATIONS[name]
        visit = VISITS.get(name, Visit())
        for caller, status in row.items():
            places = DEFAULT_PLACES | visit.places(api)
            answer = api.call(method, path.format(**places), token=tokens[caller], json=visit.body)
            assert answer.status_code == status, f"{name} by {caller}: {answer.text}"
            if status == 403 and caller in {"developer", "viewer"}:
                said = problem(answer, 403, "forbidden")
                assert said["detail"].startswith("You may not "), said
                assert "Missing: " in said["hint"], said
        assert api.call(method, path.format(**DEFAULT_PLACES, number=1, view="x"), json=visit.body).status_code == 401


def test_what_is_hidden_and_what_is_missing_answer_alike(api: Api) -> None:
    for name, (method, path) in OPERATIONS.items():
        body = VISITS.get(name, Visit()).body
        hidden, missing = (
            api.call(method, path.format(**DEFAULT_PLACES | {"product": product}, number=1, view="x"), "bob", json=body)
            for product in (PRODUCT, "nothing")
        )
        texts = [problem(each, 404, "not_found")["detail"] for each in (hidden, missing)]
        assert texts[0].replace(PRODUCT, "nothing") == texts[1], name


@pytest.mark.flow
def test_a_day_of_a_curator(customers: Customers, api: Api) -> None:
    with customers.act("developer") as product:
        pair_queue.replace_queue(product.ctx, PRODUCT, "run_1", PAIRS)
    assigned = json_body(api.post(f"{BASE}/queue/assignments", "curator", {"count": 2}), 201)["items"]
    assert [each["assigned_to"]["name"] for each in assigned] == ["Curator", "Curator"]
    mine = json_body(api.get(f"{BASE}/queue?assigned_to=curator&limit=1", "curator"))
    (pair,) = mine["items"]
    assert (pair["rank"], pair["entity_a"], pair["value"]) == (1, "e1", 5)
    rest = json_body(api.get(f"{BASE}/queue", "curator", params={"assigned_to": "curator", "after": mine["next"]}))
    assert [each["rank"] for each in rest["items"]] == [2]
    free = json_body(api.get(f"{BASE}/queue?assigned_to=nobody", "curator"))
    assert [each["rank"] for each in free["items"]] == [3, 4]

    body = {"record_a": pair["record_a"], "record_b": pair["record_b"], "answer": "same"}
    said = json_body(api.post(f"{BASE}/answers", "curator", body), 201)
    assert (said["act"], said["entities"], said["by"]["id"]) == ("same", ["e1", "e2"], "curator")
    progress = json_body(api.get(f"{BASE}/queue/progress", "developer"))
    assert (progress["total"], progress["answered"], progress["open"]) == (4, 1, 3)

    rejected = api.post(f"{BASE}/acts/{said['number']}/undo", "curator", {})
    assert json_body(rejected, 201)["undone"] == [said["number"]]
    twice = problem(api.post(f"{BASE}/acts/{said['number']}/undo", "curator", {}), 409, "conflict")
    assert "undone already" in twice["detail"]
    listed = json_body(api.get(f"{BASE}/entities/e1/history", "viewer"))["items"]
    assert [(each["act"], each["records"]) for each in listed] == [("undo", []), ("same", [])]
    assert listed[1]["undone_by"]["number"] == listed[0]["number"]
    whole = json_body(api.get(f"{BASE}/acts?limit=1", "developer"))
    assert [each["act"] for each in whole["items"]] == ["undo"]
    after = json_body(api.get(f"{BASE}/acts", "developer", params={"after": whole["next"]}))
    assert [each["records"] for each in after["items"]] == [["r1", "r4"]]


@pytest.mark.flow
def test_a_suggestion_becomes_a_merge_and_opens_again_when_that_is_undone(api: Api) -> None:
    body = {"entities": ["e2", "e3"], "note": "Same street."}
    first = json_body(api.post(f"{BASE}/suggestions", "viewer", body), 201)
    assert json_body(api.post(f"{BASE}/suggestions", "viewer", {"entities": ["e3", "e2"]}), 201) == first
    other = json_body(api.post(f"{BASE}/suggestions", "developer", {"entities": ["e1", "e4"]}), 201)
    seen = {
        caller: [each["number"] for each in json_body(api.get(f"{BASE}/suggestions", caller))["items"]]
        for caller in ("viewer", "developer", "curator")
    }
    assert seen == {"viewer": [1], "developer": [2], "curator": [2, 1]}
    accepted = json_body(api.post(f"{BASE}/suggestions/{first['number']}/accept", "curator"))
    assert (accepted["state"], accepted["decided_by"]["id"]) == ("accepted", "curator")
    refused = json_body(
        api.post(f"{BASE}/suggestions/{other['number']}/reject", "curator", {"reason": "Mother and daughter."})
    )
    assert (refused["state"], refused["reason"]) == ("rejected", "Mother and daughter.")
    problem(api.post(f"{BASE}/suggestions/{other['number']}/accept", "curator"), 409, "conflict")
    problem(api.post(f"{BASE}/suggestions/7/accept", "curator"), 404, "not_found")
    json_body(api.post(f"{BASE}/acts/{accepted['act']}/undo", "curator", {}), 201)
    (again,) = json_body(api.get(f"{BASE}/suggestions?state=open", "curator"))["items"]
    assert (again["number"], again["decided_by"], again["decided_at"]) == (first["number"], None, None)


@pytest.mark.flow
def test_an_act_that_is_sent_twice_is_made_once(api: Api) -> None:
    headers = {"Idempotency-Key": "k1"}
    made = [
        json_body(api.post(f"{BASE}/merges", "curator", {"entities": ["e1", "e2"]}, headers=headers), 201)
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert len(json_body(api.get(f"{BASE}/acts", "curator"))["items"]) == 1


def bad_requests() -> Iterator[tuple[str, str, Json, int]]:
    yield "POST", "/answers", {"record_a": "r1", "record_b": "r4", "answer": "maybe"}, 422
    yield "POST", "/answers", {"record_a": "r1", "record_b": "x", "answer": "same"}, 404
    yield "POST", "/merges", {"entities": []}, 422
    yield "POST", "/merges", {"entities": ["e1", "e1"]}, 422
    yield "POST", "/merges", {"entities": ["e1", "e9"]}, 404
    yield "POST", "/splits", {"entity": "e1", "records": [f"r{n}" for n in range(1_001)]}, 422
    yield "POST", "/splits", {"entity": "e2", "records": ["r4", "r5"]}, 422
    yield "POST", "/moves", {"record": "r1", "entity": "e1"}, 409
    yield "POST", "/entities/e1/comments", {"text": "\0"}, 422
    yield "PUT", "/entities/e1/overrides/city", {"value": "\0"}, 422
    yield "POST", "/suggestions", {"entities": ["e1", "e2"], "note": "\0"}, 422
    yield "POST", "/entities/e9/comments", {"text": "Hm."}, 404
    yield "PUT", "/entities/e1/overrides/shoe", {"value": "42"}, 422
    yield "PUT", "/entities/e1/overrides/born", {"value": "soon"}, 422
    yield "PUT", "/entities/e1/overrides/born", {}, 422
    yield "DELETE", "/entities/e1/overrides/city", None, 409
    yield "POST", "/acts/0/undo", {}, 422
    yield "POST", "/acts/9/undo", {}, 404
    yield "POST", "/queue/assignments", {"count": 0}, 422
    yield "POST", "/queue/assignments", {"count": 1, "member": "viewer"}, 422
    yield "POST", "/queue/assignments", {"count": 1, "member": "ghost"}, 404
    yield "POST", "/suggestions", {"entities": ["e1"]}, 422
    yield "POST", "/views", {**VIEW, "columns": ["shoe"]}, 422
    yield "POST", "/views", {**VIEW, "columns": ["city", "city"]}, 422
    yield "POST", "/views", {**VIEW, "filters": [{"attribute": "city", "operator": "is"}]}, 422
    yield "POST", "/views", {**VIEW, "filters": [{"attribute": "city", "operator": "is empty", "value": "x"}]}, 422
    yield "POST", "/views", {**VIEW, "filters": [{"attribute": "shoe", "operator": "is", "value": "x"}]}, 422
    yield "PUT", "/views/x", VIEW, 404
    yield "DELETE", "/views/x", None, 404


def test_bad_requests_are_refused_with_a_word(api: Api) -> None:
    for method, path, body, status in bad_requests():
        answer = api.call(method, f"{BASE}{path}", "curator", json=body)
        assert answer.status_code == status, f"{method} {path} {body}: {answer.text}"
        assert answer.json()["detail"]
    assert json_body(api.get(f"{BASE}/acts", "curator"))["items"] == []


def test_a_product_that_was_not_run_has_nothing_to_curate(api: Api) -> None:
    elsewhere = "/api/v1/data-products/vendors"
    said = problem(api.post(f"{elsewhere}/merges", "curator", {"entities": ["e1", "e2"]}), 409, "conflict")
    assert said["hint"] == "Run it first."
    assert json_body(api.get(f"{elsewhere}/queue", "curator"))["items"] == []
    assert json_body(api.get(f"{elsewhere}/views", "curator"))["items"] == []


@pytest.mark.flow
def test_views_have_names_of_their_own_and_are_changed_by_those_who_edit_them(api: Api) -> None:
    made = json_body(api.post(f"{BASE}/views", "developer", VIEW), 201)
    assert (made["name"], made["by"]["id"], made["columns"]) == ("Germany", "developer", ["city"])
    problem(api.post(f"{BASE}/views", "curator", {**VIEW, "name": "GERMANY"}), 409, "conflict")
    second = json_body(api.post(f"{BASE}/views", "curator", {"name": "All"}), 201)
    problem(api.call("PUT", f"{BASE}/views/{second['id']}", "curator", json=VIEW), 409, "conflict")
    path = f"{BASE}/views/{made['id']}"
    changed = json_body(api.call("PUT", path, "curator", json={"name": "Europe", "columns": ["entity", "records"]}))
    assert (changed["filters"], changed["changed_by"]["id"], changed["by"]["id"]) == ([], "curator", "developer")
    seen = json_body(api.get(f"{BASE}/views", "viewer"))["items"]
    assert [each["name"] for each in seen] == ["All", "Europe"]
    elsewhere = f"/api/v1/data-products/vendors/views/{made['id']}"
    problem(api.call("DELETE", elsewhere, "curator"), 404, "not_found")
    assert api.call("DELETE", path, "curator").status_code == 204
