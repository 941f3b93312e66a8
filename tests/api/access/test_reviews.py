"""Reviews over HTTP: asked for, looked at, fetched."""

from __future__ import annotations

from lakehold.api.http.idempotency import REPLAYED_HEADER
from tests.api.client import Api, json_body, problem

REVIEWS = "/api/v1/access/reviews"


def test_a_review_is_asked_for_and_waits_for_a_worker(api: Api) -> None:
    made = json_body(api.post(REVIEWS, "ada", {"format": "csv", "kinds": ["lakehouse.table"]}), 202)
    assert (made["started_by"], made["wanted"]) == ("ada", {"format": "csv", "kinds": ["lakehouse.table"]})
    assert made["ended_at"] is None
    assert json_body(api.get(f"{REVIEWS}/{made['id']}", "ada")) == made
    assert json_body(api.get(REVIEWS, "ada"))["items"] == [made]
    problem(api.get(f"{REVIEWS}/{made['id']}/result", "ada"), 409, "conflict")


def test_one_key_is_one_review(api: Api) -> None:
    first, second = (api.post(REVIEWS, "ada", {}, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert json_body(first, 202) == json_body(second, 202)
    assert second.headers[REPLAYED_HEADER] == "true"


def test_reviews_page_by_page(api: Api) -> None:
    made = [json_body(api.post(REVIEWS, "ada", {}), 202)["id"] for _ in range(3)]
    first = json_body(api.get(REVIEWS, "ada", params={"limit": 2}))
    second = json_body(api.get(REVIEWS, "ada", params={"limit": 2, "after": first["next"]}))
    assert [review["id"] for review in first["items"] + second["items"]] == made[::-1]
    assert second["next"] is None


def test_it_is_for_those_who_ask_about_others(api: Api) -> None:
    made = json_body(api.post(REVIEWS, "ada", {}), 202)
    problem(api.post(REVIEWS, "bob", {}), 403, "forbidden")
    problem(api.get(f"{REVIEWS}/{made['id']}", "bob"), 404, "not_found")
    assert json_body(api.get(REVIEWS, "bob"))["items"] == []


def test_what_cannot_be_reviewed(api: Api) -> None:
    problem(api.post(REVIEWS, "ada", {"format": "pdf"}), 422, "invalid_input")
    problem(api.post(REVIEWS, "ada", {"kinds": ["no.kind"]}), 422, "invalid_input")
    problem(api.post(REVIEWS, "ada", {"inside": "nowhere"}), 404, "not_found")
    problem(api.get(f"{REVIEWS}/job_none", "ada"), 404, "not_found")
