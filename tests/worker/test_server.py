"""What a worker answers to whoever asks it on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from lakehold.directory.platform import Platform
from lakehold.lake import catalog_tokens
from lakehold.worker import server
from lakehold.worker.server import routes, serve
from tests.platform import ADA

QUERY = {"workspace": "shop", "text": "SELECT 1", "id": "q", "rows": 1, "name": "r", "probe": "x.y", "request": {}}


class StartedError(Exception):
    """Somebody has reached Spark."""


@pytest.fixture
def worker(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    def start(*_: object) -> None:
        raise StartedError

    monkeypatch.setattr(server, "_spark_runtime", start)
    with serve(platform) as (address, _), httpx.Client(base_url=address) as client:
        yield client


def test_without_a_token_nothing_is_done(platform: Platform, worker: httpx.Client) -> None:
    asked = [(method, route.path) for route in routes.routes for method in getattr(route, "methods", ())]  # type: ignore[attr-defined]
    assert len(asked) > 5
    old = catalog_tokens.issue_token(platform.keys, ADA, 0, 60)
    valid = catalog_tokens.issue_token(platform.keys, ADA, platform.clock(), 60)
    for method, path in asked:
        for token in ("none", "lht_abc.def", old):
            found = worker.request(method, path, json=QUERY, headers={"authorization": f"Bearer {token}"})
            assert (found.status_code, found.json()["code"]) == (401, "unauthorized"), path
        found = worker.request(method, path, json=QUERY, headers={"authorization": f"Bearer {valid}"})
        assert found.status_code != 401, path
