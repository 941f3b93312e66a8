"""Data marts that a connector of their own feeds: a real database, and a real API with a secret of the mart's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lakehold.catalog import credentials, resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.marts.executors import connections
from lakehold.workspaces.marts.mart_probe import ProbeTarget
from tests.api.client import json_body, problem, serve_api
from tests.lake.shop import ED, RITA, SAM, TENANT
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi, serve_fake_api
from tests.workspaces.marts.project import LAKE, MartsProject

pytestmark = pytest.mark.slow

SECRET = "t0ken-of-the-shop"
ALL = [{"id": n, "day": f"2026-01-0{n}", "amount": n * 1.5} for n in range(1, 6)]


def shop(asked: ApiRequest) -> ApiResponse:
    """Two records on a page, to those who know the secret; from a day on, if one is asked for."""
    if asked.headers.get("Authorization") != f"Bearer {SECRET}":
        return ApiResponse({"error": "who are you?"}, 401)
    found = [each for each in ALL if str(each["day"]) > asked.params.get("since", "")]
    page = int(asked.params["page"])
    return ApiResponse({"items": found[page * 2 - 2 : page * 2]})


@contextmanager
def open_shop() -> Iterator[FakeApi]:
    with serve_fake_api() as there:
        there.routes["/v1/orders"] = shop
        yield there


def api(base: str, **more: object) -> dict[str, object]:
    endpoint = {"name": "orders", "path": "orders", "records": "items", "paging": {"by": "page"}, "since": "since"}
    reach = {"connector": "api", "address": base, "auth": {"kind": "bearer"}, "endpoints": [endpoint]}
    return {"by": "connector", "stream": "orders", **reach, **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "shop.sqlite"
    with sqlite3.connect(found) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
        made.execute("INSERT INTO orders VALUES (1, 1.5), (2, 2.5)")
    return found


def database(file: Path, **more: object) -> dict[str, object]:
    reach = {"connector": "database", "address": f"jdbc:sqlite:{file}"}
    return {"by": "connector", "stream": "orders", **reach, **more}


def test_a_database_feeds_it_whole_or_only_with_what_is_new(here: MartsProject, file: Path) -> None:
    whole = here.create_refreshed_mart(database(file))
    new = here.create_refreshed_mart(database(file, mode="incremental", cursor="id"))
    with sqlite3.connect(file) as more:
        more.execute("UPDATE orders SET amount = 9 WHERE id = 1")
        more.execute("INSERT INTO orders VALUES (3, 3.5)")
    assert here.run(whole, by=ED).state == "succeeded"
    assert here.run(new, by=ED).steps[0].rows == 1
    assert here.rows(whole) == [(1, 9.0), (2, 2.5), (3, 3.5)]
    assert here.rows(new) == [(1, 1.5), (2, 2.5), (3, 3.5)]
    assert here.rows(whole, by=RITA) == here.rows(whole)


def test_an_api_feeds_it_with_a_secret_of_its_own(here: MartsProject) -> None:
    with open_shop() as there:
        mart = here.mart(api(there.base, mode="incremental", cursor="day"))
        refused = here.run(mart, by=ED)
        assert (refused.state, "no token" in refused.error) == ("failed", True)
        with here.inline_runs.shop.platform.write(ED) as ctx:
            credentials.save(ctx, mart, {"token": SECRET})
        assert here.run(mart, by=ED).steps[0].rows == 5
        ALL.append({"id": 6, "day": "2026-01-06", "amount": 9.0})
        try:
            assert here.run(mart, by=ED).steps[0].rows == 1
        finally:
            ALL.pop()
        assert here.rows(mart, "count(*), max(id)") == [(6, 6)]
        # Sent elsewhere, its secret is forgotten.
        with here.inline_runs.shop.platform.write(ED) as ctx:
            resource_edit.apply_edit(
                ctx,
                mart,
                ResourceEdit(settings={**resource_metadata.load(ctx, mart).settings, "address": "http://127.0.0.1:1"}),
            )
            assert credentials.list_names(ctx, mart) == []
        assert SECRET not in here.lines(refused)


def probe_feed(platform: Platform, caller: Caller, target: ProbeTarget) -> dict[str, Any]:
    return connections.probe_feed(platform, caller, asdict(target), dict)


def test_what_would_feed_it_is_looked_at_by_who_may_make_or_edit_it(here: MartsProject) -> None:
    platform = here.inline_runs.shop.platform
    with open_shop() as there:
        feed = ProbeTarget(settings=api(there.base), project="sales", secrets={"token": SECRET})
        assert [each["name"] for each in probe_feed(platform, ED, feed)["streams"]] == ["orders"]
        mart = here.mart(api(there.base))
        with platform.write(ED) as ctx:
            credentials.save(ctx, mart, {"token": SECRET})
        sample = probe_feed(platform, ED, ProbeTarget(mart, settings=api(there.base), text="orders"))
        assert [row[0] for row in sample["rows"]] == [1, 2, 3, 4, 5]
        with pytest.raises(DeniedError):
            probe_feed(platform, RITA, feed)
        with pytest.raises(DeniedError):
            probe_feed(platform, RITA, ProbeTarget(mart, settings=api(there.base)))
        with pytest.raises(HiddenError):
            probe_feed(platform, SAM, ProbeTarget(mart, settings=api(there.base)))
        before = len(there.requests)
        with open_shop() as elsewhere, pytest.raises(InvalidInputError, match="no token"):
            # To edit it is not to have its secret sent elsewhere.
            probe_feed(platform, ED, ProbeTarget(mart, settings=api(elsewhere.base)))
        assert len(there.requests) == before
    for settings, said in (({"connector": "files"}, "cannot be 'files'"), ({}, "connector")):
        with pytest.raises(InvalidInputError, match=said):
            probe_feed(platform, ED, ProbeTarget(settings=settings, project="sales"))


def test_it_is_tried_over_rest_before_it_is_kept(here: MartsProject) -> None:
    with serve_api(here.inline_runs.shop.platform, TENANT) as rest, open_shop() as there:
        body = {"storage": LAKE, "settings": api(there.base), "credentials": {"token": SECRET}}
        assert [row[0] for row in json_body(rest.post("/api/v1/marts/try", "ed", body))["rows"]] == [1, 2, 3, 4, 5]
        wrong = {**body, "settings": api(there.base, mode="merge", keys=["nothing"])}
        refused = problem(rest.post("/api/v1/marts/try", "ed", wrong), 422, "invalid_input")
        assert "no stored field 'nothing'" in refused["detail"]
        off = {**body, "credentials": {"token": "wr0ng"}}
        refused = rest.post("/api/v1/marts/try", "ed", off)
        assert (refused.status_code, "wr0ng" in refused.text) == (422, False)
        # Who may use no storage learns nothing, and nobody is asked.
        before = len(there.requests)
        assert rest.post("/api/v1/marts/try", "rita", body).status_code == 404
        assert len(there.requests) == before
