"""Conditions that read what a question brings along: properties of its subject, its resource and its context."""

from __future__ import annotations

import pytest

from lakehold import directory
from lakehold.access import AccessEngine, Adopt, Grant, RequestProperties
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.kit.database import Database

TENANT = "acme"
BANK = """
model: bank
extends: [tenant]
request:
  subject: [department]
  resource: [ownerID, amount]
  context: [channel, hour, supervised, limit]
kinds:
  account:
    in: tenant
    roles:
      teller: {}
    actions: [see, pay, close]
    gates:
      - {when: not request.context.channel = 'phone call', for: close}
    allow:
      - {who: teller, may: see}
      - {who: teller, when: request.context.channel = branch and request.resource.amount <= 1000.5, may: pay}
      - {who: teller, when: request.context.supervised, may: close}
      - {who: everyone, when: request.subject.department = request.resource.ownerID, may: pay}
"""

YES = [
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": 1000})),
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": 1000.5})),
    ("pay", RequestProperties(subject={"department": "Ürün 'x'"}, resource={"ownerID": "Ürün 'x'"})),
    ("close", RequestProperties(context={"supervised": True})),
    ("close", RequestProperties(context={"supervised": True, "channel": "branch"})),
]
NO = [
    ("pay", RequestProperties()),
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": 1000.51})),
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": "1000"})),
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": True})),
    ("pay", RequestProperties(context={"channel": "branch"}, resource={"amount": float("nan")})),
    ("pay", RequestProperties(context={"channel": "Branch"}, resource={"amount": 1})),
    ("pay", RequestProperties(context={"channel": ["branch"]}, resource={"amount": 1})),
    ("pay", RequestProperties(subject={"channel": "branch"}, resource={"amount": 1})),
    ("pay", RequestProperties(subject={"department": None}, resource={"ownerID": None})),
    ("close", RequestProperties(context={"supervised": "true"})),
    ("close", RequestProperties(context={"supervised": 1})),
    ("close", RequestProperties(context={"supervised": True, "channel": "phone call"})),
]


@pytest.fixture
def access(database: Database) -> AccessEngine:
    access = AccessEngine(database)
    access.create_tenant(TENANT, "Acme", (directory.model(), parse_model(BANK)))
    with access.write(TENANT) as session:
        for member in ("ann", "bob"):
            session.store.create("tenant.member", member, uid=member, edges={"tenant": TENANT})
        for account in ("one", "two"):
            session.store.create("bank.account", account, uid=account, edges={"tenant": TENANT})
        session.store.add(Grant("ann", "teller", "one"))
    return access


@pytest.mark.parametrize(
    ("action", "request_", "answer"), [(*row, True) for row in YES] + [(*row, False) for row in NO]
)
def test_every_question_answers_alike(
    access: AccessEngine, action: str, request_: RequestProperties, answer: bool
) -> None:
    with access.read(TENANT) as session:
        asked = session.with_properties(request_)
        assert asked.check("ann", action, "one") is answer
        for member in ("ann", "bob"):
            may = [uid for uid in ("one", "two") if asked.check(member, action, uid)]
            assert [item.uid for item in asked.list(member, action, "bank.account").items] == may
            assert (member in asked.who(action, "one")) is ("one" in may)
            assert (action in asked.actions(member, "one")) is ("one" in may)
        assert asked.explain("ann", action, "one", viewer="ann").allowed is answer
        # What one question brings along is not there for the next.
        assert not session.check("ann", action, "one")


def test_why_names_what_was_asked_of_the_question(access: AccessEngine) -> None:
    with access.read(TENANT) as session:
        explanation = session.with_properties(RequestProperties(context={"channel": "branch"})).explain(
            "ann", "pay", "one"
        )
        assert not explanation.allowed
        assert not explanation.ways
        assert "request.context.channel = branch" in str(explanation.paths)
        assert "request.resource.amount <= 1000.5" in str(explanation.paths)


def test_another_model_asks_for_something_else(access: AccessEngine) -> None:
    with access.write(TENANT) as session:
        session.store.apply(Adopt(BANK.replace("1000.5", "10")))
        asked = session.with_properties(RequestProperties(context={"channel": "branch"}, resource={"amount": 11}))
        assert not asked.check("ann", "pay", "one")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("request.context.chanel = branch", "'channel'"),
        ("request.context.channel < branch", "only numbers"),
        ("request.context.hour <", "a name is expected"),
        ("request.context.hour = and", "a name is expected"),
        ("request.resource.department = x", "no resource property 'department'"),
        ("request.other.hour = x", "no edge 'request'"),
        ("request.context.hour.see", "not expected here"),
        ("request.context.hour = 12345678901234567890", "cannot be read"),
        ("request.context.channel = 'open", "cannot be read"),
    ],
)
def test_what_cannot_be_asked(wrong: str, said: str) -> None:
    with pytest.raises(ModelError) as refused:
        Policy([directory.model(), parse_model(BANK.replace("request.context.supervised", wrong))])
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["a-b", "1a", "a.b", "ä", "x" * 64])
def test_what_is_no_property(name: str) -> None:
    with pytest.raises(ModelError, match="property"):
        parse_model(BANK.replace("department]", f"department, '{name}']"))
