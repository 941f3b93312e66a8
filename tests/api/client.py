"""The application over a real database, called as over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import APIRouter, FastAPI

from lakehold.api.http.app import create_app
from lakehold.directory import tokens
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from tests.api.app_pool import lend_app

Json = Any


class Api:
    """One application, with a token for each member who calls it."""

    def __init__(self, platform: Platform, app: FastAPI, portal: BlockingPortal, tenant: str) -> None:
        self.platform = platform
        self.app = app
        self.tenant = tenant
        self._portal = portal
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
        self._tokens: dict[object, str] = {}

    def token(
        self,
        member: str,
        tenant: str = "",
        actions: frozenset[str] | None = None,
        resources: frozenset[str] | None = None,
    ) -> str:
        """A token of this member; the same one if it is asked for again."""
        key = (tenant or self.tenant, member, actions, resources)
        if key not in self._tokens:
            with self.platform.write(Caller(tenant or self.tenant, member)) as ctx:
                made = tokens.create(ctx, "test", actions=actions, resources=resources)
            self._tokens[key] = made.secret
        return self._tokens[key]

    def call(
        self,
        method: str,
        path: str,
        by: str | None = None,
        *,
        json: object = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        token: str = "",
    ) -> httpx.Response:
        """One request, with the token of this member, or with that one, or with none."""
        sent = {name.encode(): value.encode() for name, value in (headers or {}).items()}
        if token or by:
            sent[b"Authorization"] = f"Bearer {token or self.token(by or '')}".encode()
        extra: dict[str, Any] = {"json": json} if json is not None else {}
        if content is not None:
            extra["content"] = content
        ask = partial(self._client.request, method, path, params=params, headers=sent, **extra)
        return self._portal.call(ask)

    def get(self, path: str, by: str | None = None, **more: Any) -> httpx.Response:  # noqa: ANN401 - as call
        """Ask."""
        return self.call("GET", path, by, **more)

    def post(
        self,
        path: str,
        by: str | None = None,
        json: object = None,
        **more: Any,  # noqa: ANN401 - as call
    ) -> httpx.Response:
        """Send."""
        return self.call("POST", path, by, json=json, **more)


@contextmanager
def serve_api(platform: Platform, tenant: str, routers: Iterable[APIRouter] | None = None) -> Iterator[Api]:
    """Serve the application of this platform while the block lasts."""
    with (
        nullcontext(create_app(platform, routers)) if routers else lend_app(platform) as app,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
    ):
        yield Api(platform, app, portal, tenant)


def json_body(response: httpx.Response, status: int = 200) -> Json:
    """Return the JSON body of a response, after asserting its status."""
    assert response.status_code == status, f"{response.status_code}: {response.text}"
    return response.json() if response.content else None


def problem(response: httpx.Response, status: int, code: str) -> Json:
    """Return the problem details of a response, after asserting status and code."""
    found = json_body(response, status)
    assert response.headers["content-type"] == "application/problem+json"
    assert (found["status"], found["code"]) == (status, code)
    assert found["type"] == f"urn:lakehold:problem:{code}"
    assert found["request_id"] == response.headers["x-request-id"]
    return found
