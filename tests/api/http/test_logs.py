"""One line for each request, and no secret in any of them, wherever it was sent."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from lakehold.api.http import json_logging
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.http.models import RequestModel, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.directory.platform import Platform
from tests.access.company import TENANT
from tests.api.client import Api, json_body, serve_api
from tests.api.sqlite_database import database_url

__all__ = ["database_url"]

PASSWORD, LINK, QUERY = "correct-horse-battery", "lhl_4fK0aQx9Zb_link", "secret-in-a-query"

routes = make_router("/test", "Test")


class SignIn(RequestModel):
    password: str


class Done(ResponseModel):
    done: bool = True


@routes.post("/sign-in")
def sign_in(platform: CurrentPlatform, body: SignIn) -> Done:
    """Sign in."""
    return Done(done=platform.clock() > len(body.password))


@routes.post("/links/{secret}")
def use_link(platform: CurrentPlatform, secret: str, body: SignIn) -> Done:
    """Use a link, and fail."""
    raise ValueError(f"{secret} {body.password} {platform}")


@routes.get("/me")
def me(ctx: ReadContext) -> Done:
    """Who calls."""
    return Done(done=ctx.at > 0)


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    with serve_api(platform, TENANT, [routes]) as found:
        yield found


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the whole process logs, at its most talkative."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(json_logging.JsonLineFormatter())
    # What the test's own client says of what it sends is not the server's.
    handler.addFilter(lambda record: not record.name.startswith("http"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield out
    root.removeHandler(handler)
    root.setLevel(level)


def test_a_request_is_one_line(api: Api, written: io.StringIO) -> None:
    token = api.token("ada")
    api.get("/test/me", token=token, headers={"X-Request-ID": "r-1"})
    (line,) = [found for text in written.getvalue().splitlines() if (found := json.loads(text)).get("request") == "r-1"]
    assert line["event"] == "request"
    assert (line["method"], line["route"], line["status"]) == ("GET", "/test/me", 200)
    assert (line["tenant"], line["member"]) == (TENANT, "ada")
    assert line["token"] == token.split("_")[1]
    assert line["ms"] > 0


def test_no_secret_is_in_any_line(api: Api, written: io.StringIO) -> None:
    token = api.token("ada")
    cookie = "lhs_4fK0aQx9Zb_cookie"
    json_body(api.post("/test/sign-in", json={"password": PASSWORD}))
    json_body(api.post(f"/test/links/{LINK}", json={"password": PASSWORD}), 500)
    json_body(api.post(f"/test/links/{LINK}", json={"passwort": PASSWORD}), 422)
    json_body(api.post(f"/test/nothing/{LINK}"), 404)
    json_body(api.get("/test/me", token=token, params={"q": QUERY}))
    json_body(api.get("/test/me", headers={"Cookie": f"{SESSION_COOKIE}={cookie}"}), 401)
    json_body(api.get("/test/me", headers={"Authorization": f"Bearer {token[:-1]}"}), 401)
    json_body(api.get("/test/me", token=token, headers={"X-Request-ID": token}))
    json_body(api.call("BREW" + LINK.upper(), "/test/me", token=token), 405)
    json_body(
        api.post("/test/sign-in", content=f"{{'{PASSWORD}'".encode(), headers={"content-type": "application/json"}), 400
    )
    text = written.getvalue()
    ours = [json.loads(line) for line in text.splitlines() if '"logger": "lakehold.' in line]
    assert len([line for line in ours if line["event"] == "request"]) == 10
    assert [line["error"] for line in ours if line["event"] == "unexpected"] == ["ValueError"]
    for secret in (PASSWORD, LINK, LINK.upper(), QUERY, token, token[:-1], cookie):
        assert secret not in text


def test_the_server_writes_no_log_of_its_own_that_names_addresses() -> None:
    json_logging.configure_logging()
    assert logging.getLogger("uvicorn.access").disabled
