"""Every error is one shape, says what to do, and tells nothing of the inside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import sqlalchemy as sa

from lakehold.access import Add, Grant
from lakehold.api.http import json_logging
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, WriteContext
from lakehold.api.http.models import NameText, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.directory.errors import ThrottledError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import BusyError
from tests.access.company import TENANT
from tests.api.client import Api, problem, serve_api
from tests.api.sqlite_database import database_url
from tests.platform import ADA

__all__ = ["database_url"]

routes = make_router("/test", "Test")


class EchoBody(RequestModel):
    name: NameText
    count: int = 1


class Done(ResponseModel):
    name: str


@routes.post("/echo")
def echo(ctx: ReadContext, body: EchoBody) -> Done:
    """Say it again."""
    return Done(name=f"{ctx.caller.member} {body.name}")


@routes.post("/grant")
def grant(ctx: WriteContext) -> Done:
    """Give oneself a role."""
    ctx.make(Add(Grant(ctx.caller.member, "editor", "bronze")))
    return Done(name="given")


@routes.get("/see/{uid}")
def see(ctx: ReadContext, uid: str) -> Done:
    """See something."""
    ctx.need("edit", uid)
    return Done(name=uid)


@routes.get("/throttled")
def throttled(_platform: CurrentPlatform) -> Done:
    """Too often."""
    raise ThrottledError("Too many attempts.", "Wait.", wait=17)


@routes.get("/busy")
def busy(_work: ReadContext) -> Done:
    """Never free."""
    raise BusyError("Somebody else was first.", "Try again.")


@routes.get("/overloaded")
def overloaded(_work: ReadContext) -> Done:
    """No connection to be had."""
    raise sa.exc.TimeoutError("QueuePool limit of secret-host reached")


@routes.get("/broken")
def broken(_work: ReadContext) -> Done:
    """A defect."""
    raise RuntimeError("the password is hunter2")


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    with serve_api(platform, TENANT, [routes]) as found:
        yield found


def test_an_address_that_is_not_there(api: Api) -> None:
    found = problem(api.get("/nothing/secret-in-a-link"), 404, "not_found")
    assert "secret-in-a-link" not in str(found)


def test_a_method_that_is_not_known(api: Api) -> None:
    answer = api.get("/test/echo", "ada")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"


def test_a_slash_too_many_is_another_address(api: Api) -> None:
    problem(api.post("/test/echo/", "ada", {"name": "x"}), 404, "not_found")


@pytest.mark.parametrize(
    "body", [b"{", b'{"name": }', b"\xff\xfe", b"[" * 100_000, b'{"count": ' + b"9" * 5_000 + b"}"]
)
def test_a_body_that_is_no_json(api: Api, body: bytes) -> None:
    answer = api.post("/test/echo", "ada", content=body, headers={"content-type": "application/json"})
    problem(answer, 400, "bad_request")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "x", "count": "many"}, "count"),
        ({"name": "x", "colour": "red"}, "colour"),
        ([], "body"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_by_name(api: Api, body: object, field: str) -> None:
    found = problem(api.post("/test/echo", "ada", body), 422, "invalid_input")
    assert found["errors"][0]["field"] == field
    assert found["errors"][0]["source"] == "body"
    assert found["detail"].startswith(f"{field} cannot be used: ")


def test_what_was_sent_is_not_repeated(api: Api) -> None:
    answer = api.post("/test/echo", "ada", {"name": "x", "count": "hunter2"})
    assert "hunter2" not in answer.text


def test_a_body_that_is_too_large(api: Api) -> None:
    problem(api.post("/test/echo", "ada", content=b" " * 3_000_000), 413, "too_large")


def test_a_body_that_does_not_say_how_large_it_is(api: Api) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 100_000

    answer = api.post("/test/echo", "ada", content=parts(), headers={"content-type": "application/json"})
    problem(answer, 413, "too_large")


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer lh_nothing", "Basic YWRhOmFkYQ==", "Bearer lh_é"])
def test_nobody_is_signed_in(api: Api, header: str) -> None:
    answer = api.post("/test/echo", json={"name": "x"}, headers={"Authorization": header} if header else {})
    problem(answer, 401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_denial_names_the_missing_right_and_who_could_give_it(api: Api) -> None:
    with api.platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "viewer", "bronze")))
    found = problem(api.post("/test/grant", "bob"), 403, "forbidden")
    assert "Manager on layer Bronze" in found["missing"]
    assert {"id": "ada", "name": "Ada"} in found["givers"]
    assert found["retryable"] is False


def test_what_may_not_be_seen_reads_like_what_is_not_there(api: Api) -> None:
    hidden = problem(api.get("/test/see/bronze", "bob"), 404, "not_found")
    missing = problem(api.get("/test/see/silver", "bob"), 404, "not_found")
    assert hidden["detail"].replace("bronze", "silver") == missing["detail"]
    assert {**hidden, "detail": "", "request_id": ""} == {**missing, "detail": "", "request_id": ""}


def test_too_many_attempts_say_when_to_come_back(api: Api) -> None:
    answer = api.get("/test/throttled")
    assert problem(answer, 429, "too_many_attempts")["retryable"] is True
    assert answer.headers["retry-after"] == "17"


def test_what_stays_busy_may_be_tried_again(api: Api) -> None:
    answer = api.get("/test/busy", "ada")
    assert problem(answer, 409, "busy")["retryable"] is True
    assert answer.headers["retry-after"] == "1"


def test_more_than_the_server_can_do(api: Api) -> None:
    answer = api.get("/test/overloaded", "ada")
    assert problem(answer, 503, "overloaded")["retryable"] is True
    assert "secret-host" not in answer.text


def test_a_defect_tells_nothing_but_its_request_id(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    answer = api.get("/test/broken", "ada", headers={"X-Request-ID": "mine-42"})
    found = problem(answer, 500, "unexpected")
    assert found["request_id"] == "mine-42"
    assert "hunter2" not in answer.text
    assert "RuntimeError" not in answer.text
    (record,) = [record for record in caplog.records if record.name == json_logging.error_log.name]
    line = json_logging.JsonLineFormatter().format(record)
    assert "mine-42" in line
    assert "RuntimeError" in line
    assert "hunter2" not in line
