"""May they? Asked over HTTP, by everybody who may ask."""

from __future__ import annotations

import pytest

from lakehold.directory.caller import Caller
from lakehold.ledger.audit import AuditFilter
from tests.api.client import Api, json_body, problem

CHECK = "/api/v1/access/check"


def allowed(api: Api, by: str, **question: object) -> bool:
    found = json_body(api.post(CHECK, by, question))
    assert set(found) == {"allowed"}
    return bool(found["allowed"])


def test_about_oneself(corner: Api) -> None:
    assert allowed(corner, "erik", action="edit", resource="orders")
    assert allowed(corner, "erik", subject="erik", action="edit", resource="orders")
    assert not allowed(corner, "erik", action="edit", resource="sales_by_day")


def test_about_others_by_an_admin(corner: Api) -> None:
    assert allowed(corner, "adam", subject="erik", action="edit", resource="orders")
    assert not allowed(corner, "adam", subject="nils", action="read", resource="orders")


def test_about_others_by_anybody_else(corner: Api) -> None:
    about_ana = {"subject": "ana", "action": "see", "resource": "orders"}
    found = problem(corner.post(CHECK, "erik", about_ana), 403, "forbidden")
    assert "ask about others" in found["detail"]
    assert {"id": "olga", "name": "Olga, Owner"} in found["givers"]


@pytest.mark.parametrize("subject", ["ghost", "orders", "engineers"])
def test_about_nobody(corner: Api, subject: str) -> None:
    problem(corner.post(CHECK, "adam", {"subject": subject, "action": "see", "resource": "orders"}), 404, "not_found")


def test_what_may_not_be_seen_is_not_there_and_asking_is_no_attempt(corner: Api) -> None:
    hidden = problem(corner.post(CHECK, "bella", {"action": "read", "resource": "salaries"}), 404, "not_found")
    missing = problem(corner.post(CHECK, "bella", {"action": "read", "resource": "no_table"}), 404, "not_found")
    assert hidden["detail"].replace("salaries", "no_table") == missing["detail"]
    with corner.platform.access.read("corner") as session:
        assert session.check("carla", "read", "salaries")
    with corner.platform.read(Caller("corner", "adam")) as ctx:
        assert ctx.audit.page(AuditFilter(member="bella", action="read")) == []


def test_with_a_role_with_edges_and_of_something_new(corner: Api) -> None:
    assert allowed(corner, "mona", action="give", resource="orders", role="editor")
    assert not allowed(corner, "mona", action="give", resource="orders", role="manager")
    assert allowed(
        corner, "erik", action="edit", resource="make_orders", edges={"reads": ["tills", "web_orders", "payments"]}
    )
    new = {"kind": "marts.report", "edges": {"data_mart": ["daily_sales"], "destination": ["board_mail"]}}
    assert allowed(corner, "bella", action="create", new=new)


def test_an_edge_to_what_may_not_be_seen(corner: Api) -> None:
    body = {"action": "edit", "resource": "make_orders", "edges": {"reads": ["tills", "salaries"]}}
    assert "salaries" in problem(corner.post(CHECK, "erik", body), 404, "not_found")["detail"]


def test_at_another_moment(corner: Api) -> None:
    before = {"subject": "erik", "action": "edit", "resource": "orders", "at": "2001-01-01T00:00:00Z"}
    problem(corner.post(CHECK, "adam", before), 404, "not_found")
    assert allowed(corner, "adam", subject="erik", action="edit", resource="orders", at="2091-01-01T00:00:00+02:00")
    later = {"action": "edit", "resource": "orders", "at": "2091-01-01T00:00:00Z"}
    problem(corner.post(CHECK, "erik", later), 403, "forbidden")


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ({"action": "reed", "resource": "orders"}, 422),
        ({"action": "see"}, 422),
        ({"action": "see", "resource": "orders", "new": {"kind": "marts.report"}}, 422),
        ({"action": "see", "resource": ""}, 422),
        ({"action": "see", "resource": "x" * 201}, 422),
        ({"action": "see", "resource": "orders", "at": "2031-01-01T00:00:00"}, 422),
        ({"action": "give", "resource": "orders", "role": "king"}, 422),
        ({"action": "create", "new": {"kind": "no.kind"}}, 422),
    ],
)
def test_what_can_never_be_asked(corner: Api, question: object, status: int) -> None:
    problem(corner.post(CHECK, "adam", question), status, "invalid_input")


def test_many_at_once_and_one_without_an_answer_spoils_none(corner: Api) -> None:
    questions = [
        {"action": "edit", "resource": "orders"},
        {"action": "edit", "resource": "sales_by_day"},
        {"action": "edit", "resource": "no_table"},
        {"action": "edit", "resource": "salaries"},
        {"action": "see", "resource": "orders", "subject": "ana"},
    ]
    found = json_body(corner.post(f"{CHECK}/many", "erik", {"questions": questions}))["items"]
    assert [item["allowed"] for item in found] == [True, False, False, False, False]
    assert [item["error"] for item in found] == [None, None, "not_found", "not_found", "forbidden"]
    assert found[2]["detail"].replace("no_table", "salaries") == found[3]["detail"]


def test_a_narrowed_token_is_answered_for_what_it_may_do_itself(corner: Api) -> None:
    reads = corner.token("mona", actions=frozenset({"see", "read"}))
    for action, answer in (("read", True), ("edit", False)):
        for about in ({}, {"subject": "mona"}):
            body = {"action": action, "resource": "orders", **about}
            assert json_body(corner.post(CHECK, json=body, token=reads)) == {"allowed": answer}
    cleans = corner.token("mona", resources=frozenset({"clean"}))
    assert json_body(corner.post(CHECK, json={"action": "edit", "resource": "orders"}, token=cleans)) == {
        "allowed": True
    }
    problem(corner.post(CHECK, json={"action": "edit", "resource": "tills"}, token=cleans), 404, "not_found")
