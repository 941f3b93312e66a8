"""The audit log over HTTP: for those who may see it, and for nobody else."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from lakehold.access import Add, Grant
from lakehold.api.access import audit_log
from lakehold.kit.errors import ForbiddenError
from lakehold.ledger.audit import AuditFilter
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem
from tests.platform import ADA, ANN

AUDIT = "/api/v1/access/audit"


@pytest.fixture
def busy(api: Api) -> Api:
    """Four things were done."""
    with api.platform.write(ADA) as ctx:
        ctx.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        ctx.make(Add(Grant("bob", "viewer", "silver")))
    with api.platform.write(ANN) as ctx:
        ctx.rename("silver", "Gold")
        ctx.delete("silver")
    api.token("ada")
    return api


def lines(api: Api, **params: str) -> list[str]:
    items = json_body(api.get(AUDIT, "ada", params=params))["items"]
    return [item["action"] for item in items]


def test_the_newest_first_and_page_by_page(busy: Api) -> None:
    assert lines(busy) == ["make token", "delete", "rename", "grant", "create"]
    first = json_body(busy.get(AUDIT, "ada", params={"limit": 2}))
    second = json_body(busy.get(AUDIT, "ada", params={"limit": 3, "after": first["next"]}))
    assert [item["action"] for item in second["items"]] == ["rename", "grant", "create"]
    assert second["next"] is None
    grant = second["items"][1]
    assert (grant["member_name"], grant["resource_name"], grant["after"]["role"]) == ("Ada", "Silver", "viewer")


def test_filtered(busy: Api) -> None:
    assert lines(busy, member="ann") == ["delete", "rename"]
    assert lines(busy, action="grant") == ["grant"]
    assert lines(busy, resource="silver", member="ada") == ["grant", "create"]
    assert lines(busy, outcome="denied") == []
    assert lines(busy, until="2001-01-01T00:00:00Z") == []
    assert len(lines(busy, since="2001-01-01T00:00:00Z")) == 5
    page = json_body(busy.get(AUDIT, "ada", params={"limit": 1, "member": "ann"}))
    problem(busy.get(AUDIT, "ada", params={"after": page["next"]}), 422, "invalid_input")


@pytest.mark.parametrize("at_once", [1, 2, 5, 1_000])
def test_exported_the_oldest_first(busy: Api, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(audit_log, "_EXPORT_CHUNK", at_once)
    answer = busy.get(f"{AUDIT}/export", "ada")
    assert answer.headers["content-type"] == "application/jsonl"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["n"] for line in found] == [1, 2, 3, 4, 5]
    assert [line["action"] for line in found][:2] == ["create", "grant"]
    only = busy.get(f"{AUDIT}/export", "ada", params={"member": "ann"})
    assert len(only.text.splitlines()) == 2


def test_verified(busy: Api) -> None:
    found = json_body(busy.get(f"{AUDIT}/verify", "ada"))
    assert (found["whole"], found["entries"], found["fault"]) == (True, 5, "")
    with busy.platform.database.write() as transaction:
        transaction.connection.execute(sa.text("UPDATE audit SET action = 'nothing' WHERE n = 2"))
    found = json_body(busy.get(f"{AUDIT}/verify", "ada"))
    assert not found["whole"]
    assert "Entry 2" in found["fault"]


@pytest.mark.parametrize("path", [AUDIT, f"{AUDIT}/export", f"{AUDIT}/verify"])
def test_nobody_else_sees_it(busy: Api, path: str) -> None:
    problem(busy.get(path, "bob"), 403, "forbidden")
    problem(busy.get(path), 401, "unauthorized")
    narrowed = busy.token("ada", actions=frozenset({"see"}))
    problem(busy.get(path, token=narrowed), 403, "forbidden")


def test_who_loses_the_right_while_it_is_sent_gets_no_more(busy: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "_EXPORT_CHUNK", 1)
    sent = audit_log._export_lines(busy.platform, ANN, AuditFilter())
    assert json.loads(next(sent))["n"] == 1
    with busy.platform.access.write(TENANT) as session:
        session.store.remove(Grant("ann", "owner", TENANT))
    with pytest.raises(ForbiddenError):
        next(sent)
