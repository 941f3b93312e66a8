"""A platform with REST and pages, called without a network. Olga is its Owner, Ann is tested, and Bob is a
colleague.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.web import app_factory
from tests.api.client import Api
from tests.golden.flows.markup import Page

TENANT = "acme"
OLGA, ANN, BOB = "olga", "ann", "bob"
GUEST = "guest"
"""How those are called who have not signed in."""


class AcmeSite:
    """The platform, with a client for each member."""

    def __init__(self, platform: Platform, app: FastAPI, portal: BlockingPortal) -> None:
        self.platform = platform
        self.api = Api(platform, app, portal, TENANT)
        self.number = 0
        """Of the project that Ann is in."""
        self.row: object = None
        """What it was made for."""
        self.is_used = False
        """Whether it is not as it was made."""
        self._app = app
        self._portal = portal
        self._browsers: dict[str, httpx.AsyncClient] = {}
        self._tokens: dict[str, str] = {}

    def write(self, member: str = OLGA) -> AbstractContextManager[RequestContext]:
        """Something that they do at once."""
        return self.platform.write(Caller(TENANT, member))

    def read(self, member: str = OLGA) -> AbstractContextManager[RequestContext]:
        """Something that they ask."""
        return self.platform.read(Caller(TENANT, member))

    def browse(self, member: str, method: str, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 - as httpx
        """One request of somebody's browser, which is signed in and goes where it is sent."""
        if member not in self._browsers:
            self._browsers[member] = httpx.AsyncClient(
                transport=httpx.ASGITransport(self._app),
                base_url="http://127.0.0.1",
                headers={"Accept": "text/html", "Accept-Encoding": "identity"},
                cookies={} if member.startswith(GUEST) else {SESSION_COOKIE: self._cookie(member)},
            )
        return self._portal.call(partial(self._browsers[member].request, method, path, **more))

    def csrf(self, member: str) -> str:
        """What the forms of somebody's pages carry."""
        if member not in self._tokens:
            # Every page has a form: that of the sign-out.
            self._tokens[member] = Page(self.browse(member, "GET", "/").text).forms[0].filled()["csrf_token"][0]
        return self._tokens[member]

    def _cookie(self, member: str) -> str:
        visit = ClientInfo("127.0.0.1", "a test", "")
        with self.write(member) as ctx:
            return sign_ins.create(ctx, self.platform.settings, member, "test", visit).secret


@contextmanager
def open_site(template: Path, folder: Path) -> Iterator[AcmeSite]:
    """Open the platform on a copy of an empty database."""
    folder.mkdir()
    shutil.copy(template, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        for member in (OLGA, ANN, BOB):
            session.store.create("tenant.member", member.capitalize(), uid=member, edges={"tenant": TENANT})
        session.store.add(Grant(OLGA, "owner", TENANT))
    app = app_factory.create_web_app(platform)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(app.router.lifespan_context(app)):
        yield AcmeSite(platform, app, portal)
    platform.close()
