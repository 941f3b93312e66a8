"""Corner & Main as a running web app, and its people in front of a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lakehold.api.frame.callers import COOKIE
from lakehold.demo import company
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.directory.visit import Visit
from lakehold.kit.settings import Settings
from lakehold.web import site
from tests.web.site import running


@dataclass(frozen=True, slots=True)
class Shop:
    """The company, and where it is served."""

    house: Installation
    address: str

    def cookie_of(self, member: str) -> str:
        """What the browser of somebody who has signed in shows."""
        with self.house.write(Caller(company.TENANT, member)) as work:
            return sign_ins.begin(work, self.house.settings, member, "test", Visit("127.0.0.1", "a test", "")).secret

    def client(self, member: str = "") -> httpx.Client:
        """Somebody without a browser."""
        cookies = {COOKIE: self.cookie_of(member)} if member else {}
        return httpx.Client(base_url=self.address, headers={"Accept": "text/html"}, cookies=cookies, timeout=30)


@pytest.fixture
def shop(corner_file: Path, tmp_path: Path) -> Iterator[Shop]:
    """The company as it was on its first day, served for one test."""
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(corner_file, data / "lakehold.sqlite")
    house = Installation(Settings(data=data))
    try:
        with running(site.application(house)) as address:
            yield Shop(house, address)
    finally:
        house.close()
