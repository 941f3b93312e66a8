"""The same questions by everybody: nobody, a member, an admin, a narrowed token, another tenant's owner."""

from __future__ import annotations

from typing import Any

import pytest

from lakehold import workspaces
from lakehold.access import Add, Grant
from lakehold.api.http.app import operations
from tests.api.client import Api, problem
from tests.api.crawler.request_builder import fill_path
from tests.api.openapi_document import load_document
from tests.platform import ADA

OTHER = "globex"
SECURED = [(path, method) for path, method, found in operations(load_document()) if found.get("security")]

QUESTIONS: dict[str, tuple[str, str, Any]] = {
    "check": ("POST", "/api/v1/access/check", {"action": "edit", "resource": "orders"}),
    "check ada": ("POST", "/api/v1/access/check", {"subject": "ada", "action": "edit", "resource": "orders"}),
    "explain": ("POST", "/api/v1/access/explain", {"action": "edit", "resource": "orders"}),
    "who": ("GET", "/api/v1/access/who?action=edit&resource=orders", None),
    "actions": ("GET", "/api/v1/access/can/actions?resource=orders", None),
    "tables": ("GET", "/api/v1/access/can/resources?action=see&kind=lakehouse.table", None),
    "audit": ("GET", "/api/v1/access/audit", None),
    "models": ("GET", "/api/v1/access/models", None),
    "review": ("POST", "/api/v1/access/reviews", {}),
}
ANSWERS = {
    #             check, check ada, explain, who, actions, tables, audit, models, review
    "nobody":         (401, 401, 401, 401, 401, 401, 401, 401, 401),
    "nothing yet":    (404, 403, 404, 403, 404, 200, 403, 200, 403),
    "viewer":         (200, 403, 200, 403, 200, 200, 403, 200, 403),
    "owner":          (200, 200, 200, 200, 200, 200, 200, 200, 202),
    "see-only token": (200, 200, 200, 403, 200, 200, 403, 200, 403),
    "one-lake token": (200, 200, 200, 404, 200, 200, 404, 404, 404),
    "another tenant": (404, 404, 404, 404, 404, 200, 200, 200, 202),
}  # fmt: skip


@pytest.fixture
def everybody(api: Api) -> tuple[Api, dict[str, str]]:
    """A token for each of them."""
    with api.platform.write(ADA) as ctx:
        ctx.create("tenant.member", "Vic", uid="vic", edges={"tenant": "acme"})
        ctx.make(Add(Grant("vic", "viewer", "bronze")))
    api.platform.access.create_tenant(OTHER, "Globex", workspaces.models())
    with api.platform.access.write(OTHER) as session:
        session.store.create("tenant.member", "Hank", uid="hank", edges={"tenant": OTHER})
        session.store.add(Grant("hank", "owner", OTHER))
    return (
        api,
        {
            "nobody": "",
            "nothing yet": api.token("bob"),
            "viewer": api.token("vic"),
            "owner": api.token("ada"),
            "see-only token": api.token("ada", actions=frozenset({"see"})),
            "one-lake token": api.token("ada", resources=frozenset({"lh"})),
            "another tenant": api.token("hank", OTHER),
        },
    )


@pytest.mark.flow
def test_everybody_gets_what_is_theirs(everybody: tuple[Api, dict[str, str]]) -> None:
    api, tokens = everybody
    found = {
        caller: tuple(
            api.call(method, path, json=body, token=token).status_code for method, path, body in QUESTIONS.values()
        )
        for caller, token in tokens.items()
    }
    assert found == ANSWERS


def test_another_tenant_hears_nothing_of_ours(everybody: tuple[Api, dict[str, str]]) -> None:
    api, tokens = everybody
    for method, path, body in QUESTIONS.values():
        text = api.call(method, path, json=body, token=tokens["another tenant"]).text
        for ours in ("Acme", "acme", "Bronze", "bronze", "Ada", "vic"):
            assert ours not in text


def test_nobody_gets_in_anywhere(api: Api) -> None:
    for path, method in SECURED:
        answer = api.call(method.upper(), fill_path(path, {}), json={} if method != "get" else None)
        if answer.status_code != 422:  # a body that cannot be used may be told so to anybody
            problem(answer, 401, "unauthorized")
