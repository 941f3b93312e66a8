"""An endpoint is one transaction: what is answered is committed, and what fails leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.api.http.authentication import SESSION_COOKIE, make_csrf_token
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.http.models import ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.directory import sign_ins, tokens
from lakehold.directory.caller import ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.errors import BusyError, ConflictError
from lakehold.ledger.audit import DENIED, AuditFilter
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem, serve_api
from tests.platform import ADA

routes = make_router("/test", "Test")
tries: list[str] = []


class Made(ResponseModel):
    id: str


@routes.post("/layers", status_code=201)
def make_layer(ctx: WriteContext) -> Made:
    """Make a layer."""
    return Made(id=ctx.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"}))


@routes.post("/late")
def fail_late(ctx: WriteContext) -> Made:
    """Make a layer, and fail at the very end."""
    ctx.create("lakehouse.layer", "Gold", uid="gold", edges={"lakehouse": "lh"})
    ctx.session.transaction.before_commit.append(_refuse)
    return Made(id="gold")


@routes.post("/third")
def third_time(ctx: WriteContext) -> Made:
    """Succeed at the third try."""
    tries.append(ctx.caller.member)
    ctx.create("lakehouse.layer", "Tin", uid="tin", edges={"lakehouse": "lh"})
    if len(tries) < 3:
        raise BusyError("Somebody else was first.", "Try again.")
    return Made(id="tin")


@routes.get("/me")
def who_am_i(ctx: ReadContext) -> Made:
    """Who calls."""
    return Made(id=f"{ctx.caller.member}/{ctx.caller.request}/{ctx.caller.token_id}")


@routes.delete("/layers/{uid}", status_code=204)
def delete_layer(ctx: WriteContext, uid: str) -> None:
    """Delete a layer."""
    ctx.delete(uid)


def _refuse() -> None:
    raise ConflictError("Too late.", "Begin earlier.")


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    tries.clear()
    with serve_api(platform, TENANT, [routes]) as found:
        yield found


def has(api: Api, uid: str) -> bool:
    with api.platform.read(ADA) as ctx:
        return ctx.view.ids.get(uid) is not None


def test_what_is_answered_is_committed(api: Api) -> None:
    assert json_body(api.post("/test/layers", "ada"), 201) == {"id": "silver"}
    assert has(api, "silver")
    assert api.call("DELETE", "/test/layers/silver", "ada").status_code == 204
    assert not has(api, "silver")


def test_a_commit_that_fails_is_an_error_and_leaves_nothing_behind(api: Api) -> None:
    problem(api.post("/test/late", "ada"), 409, "conflict")
    assert not has(api, "gold")


def test_who_was_too_late_is_run_again_from_the_start(api: Api) -> None:
    assert json_body(api.post("/test/third", "ada")) == {"id": "tin"}
    assert tries == ["ada"] * 3
    assert has(api, "tin")


def test_a_denied_attempt_is_written_down_once(api: Api) -> None:
    problem(api.call("DELETE", "/test/layers/bronze", "bob"), 404, "not_found")
    with api.platform.read(ADA) as ctx:
        denied = [line.entry for line in ctx.audit.page(AuditFilter(outcome=DENIED))]
    assert [(entry.member, entry.action, entry.resource) for entry in denied] == [("bob", "delete", "bronze")]
    assert denied[0].token


def test_a_revoked_token_is_gone_for_the_very_next_request(api: Api) -> None:
    secret = api.token("ada")
    assert json_body(api.get("/test/me", "ada"))["id"].startswith("ada/")
    with api.platform.write(ADA) as ctx:
        (kept,) = tokens.list_of_member(ctx, "ada")
        tokens.revoke(ctx, kept.id)
    problem(api.get("/test/me", token=secret), 401, "unauthorized")


@pytest.fixture
def cookie(api: Api) -> str:
    with api.platform.write(ADA) as ctx:
        return sign_ins.create(ctx, api.platform.settings, "ada", "password", ClientInfo()).secret


def test_a_sign_in_reads_by_its_cookie_alone(api: Api, cookie: str) -> None:
    assert json_body(api.get("/test/me", headers={"Cookie": f"{SESSION_COOKIE}={cookie}"}))["id"].startswith("ada/")


def test_a_change_by_cookie_must_come_from_our_own_pages(api: Api, cookie: str) -> None:
    by_cookie = {"Cookie": f"{SESSION_COOKIE}={cookie}"}
    problem(api.post("/test/layers", headers=by_cookie), 403, "csrf")
    problem(api.post("/test/layers", headers={**by_cookie, "X-CSRF-Token": "x" * 64}), 403, "csrf")
    assert not has(api, "silver")
    ours = {**by_cookie, "X-CSRF-Token": make_csrf_token(api.platform.keys, cookie)}
    json_body(api.post("/test/layers", headers=ours), 201)
    assert has(api, "silver")


def test_the_request_id_is_echoed_and_kept_if_it_is_a_sane_one(api: Api) -> None:
    answer = api.get("/test/me", "ada", headers={"X-Request-ID": "bfe9eb29-ab87"})
    assert answer.headers["x-request-id"] == "bfe9eb29-ab87"
    assert "/bfe9eb29-ab87/" in json_body(answer)["id"]


@pytest.mark.parametrize("sent", ["", "x" * 129, "a\tb", "lh_4fK0aQx9Zb_secret", "é"])
def test_any_other_request_id_is_replaced(api: Api, sent: str) -> None:
    made = api.get("/test/me", "ada", headers={"X-Request-ID": sent}).headers["x-request-id"]
    assert made != sent
    assert len(made) == 16
