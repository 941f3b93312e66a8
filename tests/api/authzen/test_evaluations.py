"""AuthZEN 1.0: evaluation and evaluations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem
from tests.platform import ADA

ONE, MANY = "/access/v1/evaluation", "/access/v1/evaluations"


def about(subject: str, action: str, resource: str, kind: str = "lakehouse.table") -> dict[str, Any]:
    return {
        "subject": {"type": "member", "id": subject},
        "action": {"name": action},
        "resource": {"type": kind, "id": resource},
    }


@pytest.mark.parametrize("kind", ["lakehouse.table", "table"])
@pytest.mark.parametrize("subject", ["member", "tenant.member"])
def test_one_decision(corner: Api, kind: str, subject: str) -> None:
    asked = {**about("erik", "edit", "orders", kind), "subject": {"type": subject, "id": "erik"}}
    answer = corner.post(ONE, "erik", asked, headers={"X-Request-ID": "bfe9eb29-ab87-4ca3-be83-a1d5d8305716"})
    assert json_body(answer) == {"decision": True}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"] == "bfe9eb29-ab87-4ca3-be83-a1d5d8305716"
    assert json_body(corner.post(ONE, "erik", about("erik", "edit", "sales_by_day"))) == {"decision": False}


def test_unknown_fields_are_ignored(corner: Api) -> None:
    asked = {**about("erik", "edit", "orders"), "weather": "fine"}
    asked["subject"]["nickname"] = "E"
    assert json_body(corner.post(ONE, "erik", asked))["decision"]


@pytest.mark.parametrize(("kind", "uid"), [("table", "no_table"), ("table", "salaries"), ("layer", "orders")])
def test_what_is_unknown_or_unseen_or_of_another_type_is_denied_with_the_reason(
    corner: Api, kind: str, uid: str
) -> None:
    found = json_body(corner.post(ONE, "erik", about("erik", "read", uid, kind)))
    assert found["decision"] is False
    assert found["context"]["error"]["status"] == 404
    assert uid in found["context"]["reason"]


def test_an_unknown_subject_is_denied_with_the_reason(corner: Api) -> None:
    found = json_body(corner.post(ONE, "adam", about("ghost", "read", "orders")))
    assert found["decision"] is False
    assert found["context"]["error"]["status"] == 404


def test_about_others(corner: Api) -> None:
    assert json_body(corner.post(ONE, "adam", about("erik", "edit", "orders")))["decision"]
    problem(corner.post(ONE, "ana", about("erik", "edit", "orders")), 403, "forbidden")
    problem(corner.post(ONE, json=about("erik", "edit", "orders")), 401, "unauthorized")


def _without(key: str) -> dict[str, Any]:
    asked = about("erik", "edit", "orders")
    del asked[key]
    return asked


@pytest.mark.parametrize(
    "asked",
    [
        {},
        [],
        _without("subject"),
        _without("action"),
        _without("resource"),
        {**about("erik", "edit", "orders"), "subject": {"type": "member"}},
        {**about("erik", "edit", "orders"), "subject": {"id": "erik"}},
        {**about("erik", "edit", "orders"), "subject": "erik"},
        {**about("erik", "edit", "orders"), "action": {}},
        {**about("erik", "edit", "orders"), "context": []},
        {**about("erik", "edit", "orders"), "subject": {"type": "robot", "id": "erik"}},
        about("erik", "reed", "orders"),
        about("erik", "edit", "orders", "lakehouse.tabel"),
        about("erik", "edit", "orders", "project"),
    ],
)
def test_a_request_that_cannot_be_used_is_a_bad_request(corner: Api, asked: object) -> None:
    found = json_body(corner.post(ONE, "erik", asked), 400)
    assert found["status"] == 400
    assert found["detail"]


def many(api: Api, by: str, **body: object) -> list[dict[str, Any]]:
    found = json_body(api.post(MANY, by, body))
    assert set(found) == {"evaluations"}
    decided: list[dict[str, Any]] = found["evaluations"]
    return decided


READ_THREE = {
    "subject": {"type": "member", "id": "erik"},
    "action": {"name": "edit"},
    "evaluations": [{"resource": {"type": "table", "id": uid}} for uid in ("orders", "sales_by_day", "tills")],
}


@pytest.mark.parametrize(
    ("options", "decisions"),
    [
        ({}, [True, False, True]),
        ({"options": {}}, [True, False, True]),
        ({"options": {"evaluations_semantic": "execute_all", "another": 1}}, [True, False, True]),
        ({"options": {"evaluations_semantic": "deny_on_first_deny"}}, [True, False]),
        ({"options": {"evaluations_semantic": "permit_on_first_permit"}}, [True]),
    ],
)
def test_the_three_semantics(corner: Api, options: dict[str, Any], decisions: list[bool]) -> None:
    found = many(corner, "erik", **READ_THREE, **options)
    assert [each["decision"] for each in found] == decisions


def test_defaults_are_overridden_one_by_one(corner: Api) -> None:
    found = many(
        corner,
        "adam",
        **about("erik", "edit", "orders"),
        evaluations=[
            {},
            {"action": {"name": "delete"}},
            {"subject": {"type": "member", "id": "nils"}},
            {"resource": {"type": "table", "id": "sales_by_day"}},
            about("ana", "see", "orders"),
        ],
    )
    with corner.platform.access.read("corner") as session:
        expected = session.check_many(
            [
                ("erik", "edit", "orders"),
                ("erik", "delete", "orders"),
                ("nils", "edit", "orders"),
                ("erik", "edit", "sales_by_day"),
                ("ana", "see", "orders"),
            ]
        )
    assert [each["decision"] for each in found] == expected
    assert True in expected
    assert False in expected


@pytest.mark.parametrize("evaluations", [{}, {"evaluations": []}])
def test_without_evaluations_it_is_one_evaluation(corner: Api, evaluations: dict[str, Any]) -> None:
    found = json_body(corner.post(MANY, "erik", {**about("erik", "edit", "orders"), **evaluations}))
    assert found == {"decision": True}


def test_an_unknown_id_in_a_batch_is_denied_with_its_reason_and_spoils_none(corner: Api) -> None:
    found = many(
        corner,
        "erik",
        **about("erik", "edit", "orders"),
        evaluations=[
            {"resource": {"type": "table", "id": "no_table"}},
            {"resource": {"type": "table", "id": "salaries"}},
            {"subject": {"type": "member", "id": "ana"}},
            {"action": {"name": "reed"}},
            {},
        ],
    )
    assert [each["decision"] for each in found] == [False, False, False, False, True]
    assert [each.get("context", {}).get("error", {}).get("status") for each in found] == [404, 404, 403, 400, None]
    assert found[0]["context"]["reason"].replace("no_table", "salaries") == found[1]["context"]["reason"]
    stopped = many(
        corner,
        "erik",
        **about("erik", "edit", "orders"),
        options={"evaluations_semantic": "deny_on_first_deny"},
        evaluations=[{"resource": {"type": "table", "id": "no_table"}}, {}],
    )
    assert len(stopped) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"evaluations": [{}]},
        {"evaluations": [about("erik", "edit", "orders"), {"action": {"name": "edit"}}]},
        {**READ_THREE, "options": {"evaluations_semantic": "guess"}},
        {**READ_THREE, "evaluations": {}},
        {"subject": {"type": "member", "id": "erik"}},
    ],
)
def test_a_batch_that_cannot_be_used_is_a_bad_request(corner: Api, body: object) -> None:
    json_body(corner.post(MANY, "erik", body), 400)


GUESTS = """\
model: guests
root: house
extends: [tenant]
request:
  subject: [grown_up]
  resource: [garden]
  context: [hour]

kinds:
  house:
    in: tenant
    create: tenant.create_workspace
    actions: [see, enter, smoke]
    allow:
      - {who: everyone, may: see}
      - {who: everyone, when: request.context.hour < 22, may: enter}
      - {who: everyone, when: request.subject.grown_up and request.resource.garden = open, may: smoke}
"""


def test_a_custom_model_reads_what_the_request_brings_along(api: Api) -> None:
    json_body(api.post("/api/v1/access/models", "ada", {"source": GUESTS}), 201)
    with api.platform.write(ADA) as ctx:
        ctx.create("guests.house", "Villa", uid="villa", edges={"tenant": TENANT})

    def may(
        action: str,
        subject: dict[str, object] | None = None,
        resource: dict[str, object] | None = None,
        context: dict[str, object] | None = None,
    ) -> bool:
        asked = {
            "subject": {"type": "member", "id": "bob", "properties": subject or {}},
            "action": {"name": action},
            "resource": {"type": "house", "id": "villa", "properties": resource or {}},
            "context": context or {},
        }
        return bool(json_body(api.post(ONE, "bob", asked))["decision"])

    assert may("enter", context={"hour": 21})
    assert not may("enter", context={"hour": 22})
    assert not may("enter")
    assert may("smoke", subject={"grown_up": True}, resource={"garden": "open"})
    assert not may("smoke", subject={"grown_up": True}, resource={"garden": "shut"})
