"""A table over HTTP, and an integration: a tool that reads some tables, as the member who let it in."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
import pytest

from lakehold.access import Grant
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ED, TENANT
from tests.workspaces.lakehouse.inline_runs import InlineRuns


@pytest.fixture(scope="module")
def api(here: InlineRuns) -> Iterator[Api]:
    with serve_api(here.shop.platform, TENANT) as found:
        yield found


def test_fields_and_snapshots_of_a_table(api: Api) -> None:
    found = json_body(api.get("/api/v1/tables/customers", "rita"))
    assert [(field["name"], field["type"]) for field in found["fields"]] == [("id", "int"), ("name", "string")]
    newest = found["snapshots"][0]
    assert (newest["rows"], newest["current"]) == (5, True)


def test_rows_as_json_csv_and_arrow(api: Api) -> None:
    path = "/api/v1/tables/customers/rows"
    found = json_body(api.get(path, "rita", params={"field": "id", "operator": ">=", "value": "3", "fields": "name"}))
    assert (sorted(found["rows"]), found["complete"]) == ([["customer 3"], ["customer 4"]], True)
    both = {"field": ["id", "name"], "operator": [">=", "!="], "value": ["2", "customer 3"], "fields": "id"}
    assert sorted(json_body(api.get(path, "rita", params=both))["rows"]) == [[2], [4]]
    none = json_body(
        api.get(path, "rita", params={"field": ["name", "id"], "operator": ["is empty", "="], "value": ["", "1"]})
    )
    assert none["rows"] == []
    some = api.get(path, "rita", params={"limit": 2}, headers={"Accept": "text/csv"})
    first, *_, last = some.text.splitlines()
    assert (first, last, some.headers["x-lakehold-complete"]) == ("id,name", "# There are more rows.", "false")
    arrow = api.get(path, "rita", headers={"Accept": ARROW_MEDIA_TYPE})
    assert pa.ipc.open_stream(io.BytesIO(arrow.content)).read_all().num_rows == 5


def test_what_may_not_be_read_is_not_there(api: Api) -> None:
    for path in ("", "/rows"):
        problem(api.get(f"/api/v1/tables/hidden{path}", "rita"), 404, "not_found")
        problem(api.get(f"/api/v1/tables/nosuch{path}", "rita"), 404, "not_found")
        problem(api.get(f"/api/v1/tables/raw{path}", "ed"), 422, "invalid_input")
    problem(api.get("/api/v1/tables/orders/rows", "rita", params={"fields": "nosuch"}), 422, "invalid_input")
    problem(api.get("/api/v1/tables/orders/rows", "rita", params={"value": "1"}), 422, "invalid_input")
    wrong = {"field": ["id"], "operator": ["=", "="], "value": ["1", "2"]}
    problem(api.get("/api/v1/tables/orders/rows", "rita", params=wrong), 422, "invalid_input")
    problem(api.get("/api/v1/tables/orders/rows", "rita", params={"limit": 100_001}), 422, "invalid_input")


def test_a_tool_reads_what_it_was_let_into_and_no_longer_than_its_member_may(here: InlineRuns, api: Api) -> None:
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["orders"]}
        resources.create(ctx, "lakehouse.integration", "BI", uid="bi", edges=edges)
    made = json_body(api.post("/api/v1/integrations/bi/tokens", "ed", {"days": 30}), 201)
    assert made["tables"] == ["orders"]
    token = made["secret"]
    assert len(json_body(api.get("/api/v1/tables/orders/rows", token=token, params={"limit": 200}))["rows"]) == 100
    assert api.get("/api/v1/tables/customers/rows", token=token).status_code == 404
    assert api.get("/api/v1/tables/orders/rows", "ed").status_code == 200
    assert api.call("DELETE", "/api/v1/resources/orders", token=token).status_code in {403, 404}
    asked = {"workspace": "shop", "sql": "SELECT 1"}
    assert api.post("/api/v1/queries", json=asked, token=token).status_code in {403, 404}
    # What it reads, and whether it lets anybody in, is asked each time.
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, "bi", ResourceEdit(edges={"reads": ["customers"]}))
    assert [api.get(f"/api/v1/tables/{each}/rows", token=token).status_code for each in ("orders", "customers")] == [
        404,
        200,
    ]
    for state, answer in (("false", 401), ("true", 200)):
        edit = {"attributes": {"active": state}}
        json_body(api.call("PATCH", "/api/v1/resources/bi", "ed", json=edit, headers={"If-Match": "*"}))
        assert api.get("/api/v1/tables/customers/rows", token=token).status_code == answer
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, "bi", ResourceEdit(edges={"reads": ["orders"]}))
    grant = Grant("ed", "editor", "raw")
    with here.shop.platform.access.write(TENANT) as session:
        session.store.remove(grant)
    assert api.get("/api/v1/tables/orders/rows", token=token).status_code == 404
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(grant)


def test_only_an_editor_of_all_its_tables_opens_an_integration(here: InlineRuns, api: Api) -> None:
    with here.shop.platform.write(ED) as ctx:
        resources.create(ctx, "lakehouse.integration", "None", uid="none", edges={"lakehouse": "shop", "into": "raw"})
    problem(api.post("/api/v1/integrations/none/tokens", "ed", {}), 409, "conflict")
    assert api.post("/api/v1/integrations/bi/tokens", "rita", {}).status_code in {403, 404}
    problem(api.post("/api/v1/integrations/orders/tokens", "ed", {}), 422, "invalid_input")
