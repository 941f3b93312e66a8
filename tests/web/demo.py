"""The demo company Corner & Main as a running web application, and its members' clients."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.demo import activity, company
from lakehold.directory import accounts, passwords, sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings, load_settings
from lakehold.web import app_factory
from tests.web.site import running

SECRET = "nine purple elephants"
TLS = httpx.create_ssl_context()
"""Shared, though nobody needs it: to read the authorities of the web takes as long as a page."""


@dataclass(frozen=True, slots=True)
class Shop:
    """The company, and the address at which it is served."""

    platform: Platform
    address: str
    clients: list[httpx.Client] = field(default_factory=list)
    """Those that are closed at the end."""

    def cookie_of(self, member: str) -> str:
        """What the browser of somebody who has signed in shows."""
        with self.platform.write(Caller(company.TENANT, member)) as ctx:
            return sign_ins.create(
                ctx, self.platform.settings, member, "test", ClientInfo("127.0.0.1", "a test", "")
            ).secret

    def client(self, member: str = "") -> httpx.Client:
        """Somebody without a browser."""
        cookies = {SESSION_COOKIE: self.cookie_of(member)} if member else {}
        made = httpx.Client(
            base_url=self.address, headers={"Accept": "text/html"}, cookies=cookies, timeout=30, verify=TLS
        )
        self.clients.append(made)
        return made


@pytest.fixture(scope="session")
def shop_folder(corner_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The company with all that makes it look lived in, to be copied."""
    folder = tmp_path_factory.mktemp("shop") / "data"
    folder.mkdir()
    shutil.copy(corner_file, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder))
    activity.add_activity(platform)
    platform.close()
    return folder


@pytest.fixture
def shop(shop_folder: Path, tmp_path: Path) -> Iterator[Shop]:
    """The company, served for one test."""
    with open_demo(shop_folder, tmp_path / "data") as found:
        yield found


_idle: list[tuple[FastAPI, str]] = []
"""Applications that nobody uses at the moment, and where they listen."""
_listening = ExitStack()


@contextmanager
def serve_platform(platform: Platform) -> Iterator[str]:
    """Where an installation is served. To assemble an application and to begin to listen takes as long as many a test,
    so one serves a house after the other.
    """
    app, address = _idle.pop() if _idle else _start_application(platform)
    app.state.platform = platform
    try:
        yield address
    finally:
        if lake := app.state._state.pop("lake", None):
            lake.close()
        _idle.append((app, address))


def _start_application(platform: Platform) -> tuple[FastAPI, str]:
    app = app_factory.create_web_app(platform)
    return app, _listening.enter_context(running(app))


@contextmanager
def open_demo(folder: Path, copied_to: Path, **settings: object) -> Iterator[Shop]:
    """Serve a copy of the company with these settings."""
    shutil.copytree(folder, copied_to)
    platform = Platform(load_settings(data=copied_to, **settings))
    try:
        with serve_platform(platform) as address:
            found = Shop(platform, address)
            yield found
            for client in found.clients:
                client.close()
    finally:
        platform.close()


def give_password(shop: Shop, member: str, password: str = SECRET) -> str:
    """Let somebody sign in with a password, and tell their e-mail address."""
    with shop.platform.write(Caller(company.TENANT, member)) as ctx:
        accounts.set_password(ctx, member, passwords.hash_password(password))
        account = accounts.get(ctx, member)
    assert account
    return account.email
