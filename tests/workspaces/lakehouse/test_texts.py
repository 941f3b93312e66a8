"""Queries that are kept: they read what the worker finds in their text, and that is a change of edges like any."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.access import Grant
from lakehold.catalog import resources
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ED, TENANT
from tests.workspaces.lakehouse.inline_runs import InlineRuns

PATH = "/api/v1/saved-queries"


@pytest.fixture(scope="module")
def api(here: InlineRuns) -> Iterator[Api]:
    with serve_api(here.shop.platform, TENANT) as found:
        yield found


def reads(api: Api, uid: str, by: str) -> list[str]:
    found = json_body(api.get(f"/api/v1/resources/{uid}", by))
    return sorted(each["id"] for each in found["edges"]["reads"])


def test_a_query_of_ones_own_is_kept_with_what_it_reads(api: Api) -> None:
    body = {"workspace": "shop", "name": "How many", "sql": "SELECT count(*) FROM raw.orders"}
    made = json_body(api.post(PATH, "rita", body), 201)
    assert made["reads"] == ["orders"]
    assert reads(api, made["id"], "rita") == ["orders"]
    both = "SELECT * FROM raw.Customers c WHERE EXISTS (SELECT 1 FROM service.sums s WHERE s.id = c.id)"
    changed = json_body(api.call("PUT", f"{PATH}/{made['id']}", "rita", json={"sql": both}))
    assert changed["reads"] == ["customers", "sums"]
    assert reads(api, made["id"], "rita") == ["customers", "sums"]
    # It is hers alone, and what it reads may be more than others see.
    problem(api.call("PUT", f"{PATH}/{made['id']}", "ed", json={"sql": "SELECT 1"}), 404, "not_found")


def test_what_cannot_be_understood_or_read_is_not_kept(api: Api) -> None:
    for sql, code in (("SELECT * FROM secret.hidden", "query_failed"), ("DROP TABLE raw.orders", "query_refused")):
        problem(api.post(PATH, "rita", {"workspace": "shop", "name": "No", "sql": sql}), 422, code)
    problem(api.post(PATH, "rita", {"workspace": "other", "name": "No", "sql": "SELECT 1"}), 404, "not_found")


def test_a_query_that_fills_a_table_reads_no_more_than_its_editor_may_edit(here: InlineRuns, api: Api) -> None:
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["orders"], "writes": ["raw"], "into": "raw"}
        settings = {"table": "texted", "sql": "SELECT id FROM raw.orders", "mode": "append"}
        uid = resources.create(ctx, "lakehouse.query", "texted", uid="texted", edges=edges, settings=settings)
    path = f"{PATH}/{uid}"
    assert json_body(api.call("PUT", path, "ed", json={"sql": "SELECT id FROM raw.customers"}))["reads"] == [
        "customers"
    ]
    found = json_body(api.get(f"/api/v1/resources/{uid}", "ed"))
    assert found["settings"] == {"table": "texted", "sql": "SELECT id FROM raw.customers", "mode": "append"}
    assert reads(api, uid, "ed") == ["customers"]
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("ed", "viewer", "sums"))
    problem(api.call("PUT", path, "ed", json={"sql": "SELECT id FROM service.sums"}), 403, "forbidden")
    assert reads(api, uid, "ed") == ["customers"]
    assert here.run(uid).state == "succeeded"
    problem(api.call("PUT", f"{PATH}/orders", "ed", json={"sql": "SELECT 1"}), 422, "invalid_input")
