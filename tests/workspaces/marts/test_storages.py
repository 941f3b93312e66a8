"""A look into storages of each kind, by those who may use them, through a real worker; and marts tried out first."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lakehold.access import Add, Attribute, Grant
from tests import postgres
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ED, TENANT
from tests.workspaces.marts.project import LAKE, SALES, MartsProject

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def api(here: MartsProject) -> Iterator[Api]:
    with here.inline_runs.shop.platform.access.write(TENANT) as session:
        session.store.create("tenant.member", "Tess", uid="tess", edges={"tenant": TENANT})
        session.store.add(Grant("tess", "technical_user", "sales"))
    with serve_api(here.inline_runs.shop.platform, TENANT) as found:
        yield found


def shared(here: MartsProject, uid: str) -> None:
    with here.inline_runs.shop.platform.write(ED) as ctx:
        ctx.make(Add(Attribute(uid, "shared_for_use", "true")))


def test_a_lake_shows_the_tables_that_its_looker_may_read(here: MartsProject, api: Api) -> None:
    found = json_body(api.get(f"/api/v1/storages/{LAKE}/tables", "ed"))["items"]
    assert {"raw.orders", "raw.customers"} <= {each["name"] for each in found}
    assert next(each["uid"] for each in found if each["name"] == "raw.orders") == "orders"
    few = json_body(api.get(f"/api/v1/storages/{LAKE}/tables", "ed", params={"search": "CUSTOM"}))["items"]
    assert [each["name"] for each in few] == ["raw.customers"]
    # Until it is shared, nobody else knows of it; a Business User uses no storage at all.
    assert api.get(f"/api/v1/storages/{LAKE}/tables", "tess").status_code == 404
    shared(here, LAKE)
    refused = problem(api.get(f"/api/v1/storages/{LAKE}/tables", "tess"), 403, "forbidden")
    assert "lakehouse that you do not see" in refused["detail"]
    assert "shop" not in refused["detail"]
    assert api.get(f"/api/v1/storages/{LAKE}/tables", "rita").status_code == 404


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "No storage is named"),
        ({"project": "sales"}, "No storage is named"),
        ({"project": "sales", "settings": {"kind": "lake", "lakehouse": "sales"}}, "'sales' is not a lakehouse"),
        ({"project": "sales", "settings": {"kind": 7}}, "kind of the storage cannot be '7'"),
        # It begins as the installation allows, and leads elsewhere.
        ({"project": "sales", "settings": {"kind": "database", "address": "jdbc:sqlite:/a/../b"}}, "not allowed here"),
    ],
)
def test_what_is_no_storage_is_told(api: Api, asked: dict[str, object], said: str) -> None:
    assert said in problem(api.post("/api/v1/storages/test", "ed", asked), 422, "invalid_input")["detail"]


def test_a_table_a_pattern_and_a_query_of_the_lake_are_looked_at(api: Api) -> None:
    at = f"/api/v1/storages/{LAKE}/look"
    table = json_body(api.post(at, "ed", {"by": "table", "text": "raw.customers"}))
    assert (len(table["rows"]), table["reads"]) == (5, ["customers"])
    pattern = json_body(api.post(at, "ed", {"by": "pattern", "text": "raw.*o*ers"}))
    assert "2 tables fit: raw.customers, raw.orders" in pattern["notes"][0]
    query = json_body(api.post(at, "ed", {"by": "sql", "text": SALES}))
    assert [field["name"] for field in query["fields"]] == ["id", "customer", "amount", "day"]
    assert len(query["rows"]) == 20
    problem(api.post(at, "ed", {"by": "table", "text": "raw.nosuch"}), 404, "not_found")
    problem(api.post(at, "ed", {"by": "sql", "text": "SELEKT 1"}), 422, "query_failed")


def test_a_database_is_tested_before_it_is_made_and_looked_into_after(
    here: MartsProject, api: Api, server: postgres.Server
) -> None:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE people (id int PRIMARY KEY, word text)")
        connection.execute("INSERT INTO people VALUES (1, 'one'), (2, 'two')")
    settings = {"kind": "database", "address": f"jdbc:postgresql://127.0.0.1:{server.port}/{name}"}
    settings["user"] = postgres.USER
    tested = json_body(api.post("/api/v1/storages/test", "ed", {"project": "sales", "settings": settings}))
    assert [(each["name"], each["keys"]) for each in tested["items"]] == [("public.people", ["id"])]
    gone = {**settings, "address": f"jdbc:postgresql://127.0.0.1:{server.port}/nosuch"}
    assert api.post("/api/v1/storages/test", "ed", {"project": "sales", "settings": gone}).status_code == 404
    # Who may not make a storage connects to nothing.
    assert api.post("/api/v1/storages/test", "rita", {"project": "sales", "settings": settings}).status_code == 403
    assert api.post("/api/v1/storages/test", "sam", {"project": "sales", "settings": settings}).status_code == 404

    storage = here.storage("people", settings)
    at = f"/api/v1/storages/{storage}/look"
    assert json_body(api.post(at, "ed", {"by": "table", "text": "public.people"}))["rows"] == [[1, "one"], [2, "two"]]
    query = json_body(api.post(at, "ed", {"by": "sql", "text": "SELECT max(id) AS most FROM people"}))
    assert (query["fields"], query["rows"]) == ([{"name": "most", "type": "int"}], [[2]])
    values = {"by": "sql", "text": "SELECT DATE '2026-11-30' AS day, 1.50::numeric(5, 2) AS price, NULL::int AS none"}
    assert json_body(api.post(at, "ed", values))["rows"] == [["2026-11-30", "1.50", None]]
    wrong = problem(api.post(at, "ed", {"by": "sql", "text": "SELEC 1"}), 422, "source_refused")["detail"]
    assert wrong.startswith("The database refuses: ")
    assert "Position" not in wrong
    shared(here, storage)
    assert json_body(api.get(f"/api/v1/storages/{storage}/tables", "tess"))["items"][0]["name"] == "public.people"
    # To use it is not to try other settings with its secrets.
    other = {"storage": storage, "settings": {**settings, "user": "somebody"}}
    assert api.post("/api/v1/storages/test", "tess", other).status_code == 403
    server.drop(name)


def test_files_are_looked_at_as_they_would_be_read(here: MartsProject, api: Api) -> None:
    new = {"project": "sales", "settings": {"kind": "files", "folder": ""}}
    assert "folder of its own" in json_body(api.post("/api/v1/storages/test", "ed", new))["notes"][0]
    storage = here.storage("till", {"kind": "files", "folder": ""})
    volume = here.files(storage)
    with volume.open_partial() as rough:
        rough.write(b"id;word\n1;one\n")
        volume.publish(rough, "a.csv", replace=True)
    assert [each["name"] for each in json_body(api.get(f"/api/v1/storages/{storage}/tables", "ed"))["items"]] == [
        "a.csv"
    ]
    seen = json_body(api.post(f"/api/v1/storages/{storage}/look", "ed", {"by": "pattern", "text": "*.csv"}))
    assert [field["name"] for field in seen["fields"]] == ["id", "word"]
    problem(api.post(f"/api/v1/storages/{storage}/look", "ed", {"by": "sql", "text": "SELECT 1"}), 422, "invalid_input")


def test_a_mart_is_tried_out_before_it_is_kept(api: Api) -> None:
    settings: dict[str, object] = {"by": "sql", "sql": SALES, "mode": "merge", "keys": ["id"]}
    hidden = [{"name": name, "hidden": True} for name in ("id", "customer", "amount", "day")]
    assert len(json_body(api.post("/api/v1/marts/try", "ed", {"storage": LAKE, "settings": settings}))["rows"]) == 20
    for wrong, said in (
        ({"keys": ["nosuch"]}, "nosuch"),
        ({"mode": "incremental", "cursor": "later"}, "later"),
        ({"columns": [{"name": "price"}]}, "price"),
        ({"keys": []}, "primary key"),
        ({"checks": [{"check": "unique"}]}, "needs a field"),
        ({"keys": [], "mode": "full", "columns": hidden}, "All fields are hidden"),
    ):
        refused = api.post("/api/v1/marts/try", "ed", {"storage": LAKE, "settings": {**settings, **wrong}})
        assert said in problem(refused, 422, "invalid_input")["detail"]
    assert api.post("/api/v1/marts/try", "rita", {"storage": LAKE, "settings": settings}).status_code == 404
