"""Why, for whoever may know."""

from __future__ import annotations

from tests.api.client import Api, json_body, problem

EXPLAIN = "/api/v1/access/explain"


def test_a_yes_names_the_facts_that_made_it_one(corner: Api) -> None:
    found = json_body(corner.post(EXPLAIN, "erik", {"action": "edit", "resource": "orders"}))
    assert found["allowed"]
    (path,) = found["paths"]
    assert (path["rule"], path["held"]) == ("editor", True)
    facts = [fact for part in path["reason"]["parts"] or [path["reason"]] for fact in part["facts"]]
    assert {"fact": "grant", "subject": "engineers", "role": "editor", "resource": "clean"} in facts
    assert found["ways"] == []


def test_a_no_names_what_is_missing_and_who_gives_it(corner: Api) -> None:
    found = json_body(corner.post(EXPLAIN, "bella", {"action": "edit", "resource": "store_targets"}))
    assert not found["allowed"]
    nearest = found["ways"][0]["needed"][0]
    assert nearest["fact"] == {"fact": "grant", "subject": "bella", "role": "technical_user", "resource": "sales"}
    assert nearest["givers"][0] == {"id": "olga", "name": "Olga, Owner"}
    assert "Technical" in nearest["text"]


def test_what_is_hidden_is_not_named(corner: Api) -> None:
    for_otto = corner.post(EXPLAIN, "otto", {"action": "run", "resource": "copy_erp"})
    assert json_body(for_otto)["ways"] == []
    assert json_body(for_otto)["hidden_ways"]
    assert "can_consume_data" not in for_otto.text
    for_adam = json_body(corner.post(EXPLAIN, "adam", {"subject": "otto", "action": "run", "resource": "copy_erp"}))
    assert any(need["fact"].get("role") == "can_consume_data" for way in for_adam["ways"] for need in way["needed"])


def test_through_a_narrowed_token_nothing_outside_of_it_is_named(corner: Api) -> None:
    token = corner.token("erik", resources=frozenset({"orders"}))
    answer = corner.post(EXPLAIN, json={"action": "edit", "resource": "orders"}, token=token)
    assert json_body(answer)["allowed"]
    for hidden in ("Clean", '"clean"', "engineers", "Engineers"):
        assert hidden not in answer.text


def test_out_of_sight_and_about_others(corner: Api) -> None:
    problem(corner.post(EXPLAIN, "bella", {"action": "read", "resource": "salaries"}), 404, "not_found")
    problem(corner.post(EXPLAIN, "bella", {"subject": "ana", "action": "see", "resource": "orders"}), 403, "forbidden")
    problem(corner.post(EXPLAIN, "bella", {"action": "reed", "resource": "daily_sales"}), 422, "invalid_input")
