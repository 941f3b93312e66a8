"""A look at a source before it is made, for those who may make it. And a result that is saved as a table."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests import postgres
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import TENANT
from tests.lake.sources.fake_api import ApiResponse, serve_fake_api
from tests.workspaces.lakehouse.inline_runs import InlineRuns

HERE = {"lakehouse": "shop", "layer": "raw"}


@pytest.fixture(scope="module")
def api(here: InlineRuns) -> Iterator[Api]:
    with serve_api(here.shop.platform, TENANT) as found:
        yield found


def test_files_are_shown_with_the_guess_of_how_they_are_read(here: InlineRuns, api: Api) -> None:
    here.put_file("look/a.csv", "id;when\n1;2026-01-01\n")
    asked = {**HERE, "settings": {"connector": "files", "volume": "raw_files", "folder": "look"}}
    found = json_body(api.post("/api/v1/sources/look", "ed", asked))
    assert [stream["name"] for stream in found["streams"]] == ["a.csv"]
    sample = json_body(api.post("/api/v1/sources/look", "ed", {**asked, "stream": "a.csv"}))
    assert sample["fields"] == [{"name": "id", "type": "bigint"}, {"name": "when", "type": "date"}]
    assert (sample["rows"], sample["format"]["delimiter"]) == ([["1", "2026-01-01"]], ";")
    fixed = sample["format"] | {"fields": [{"name": "id", "type": "string"}, {"name": "when", "type": "date"}]}
    changed = json_body(api.post("/api/v1/sources/look", "ed", {**asked, "stream": "a.csv", "how": {"format": fixed}}))
    assert changed["fields"][0] == {"name": "id", "type": "string"}


def test_a_database_and_an_api_are_looked_at(api: Api, server: postgres.Server) -> None:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id int PRIMARY KEY, word text)")
        connection.execute("INSERT INTO t VALUES (1, 'one')")
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{name}"
    database = {**HERE, "settings": {"connector": "database", "address": address, "user": postgres.USER}}
    (stream,) = json_body(api.post("/api/v1/sources/look", "ed", database))["streams"]
    assert (stream["name"], stream["keys"]) == ("public.t", ["id"])
    assert json_body(api.post("/api/v1/sources/look", "ed", {**database, "stream": "public.t"}))["rows"] == [[1, "one"]]
    server.drop(name)
    with serve_fake_api() as other:
        other.routes["/v1/x"] = lambda _: ApiResponse([{"id": 1}])
        settings = {"connector": "api", "address": other.base, "endpoints": [{"name": "x", "path": "x"}]}
        assert (
            json_body(api.post("/api/v1/sources/look", "ed", {**HERE, "settings": settings}))["streams"][0]["name"]
            == "x"
        )


def test_only_who_may_make_a_source_looks(api: Api) -> None:
    settings = {"connector": "files", "volume": "raw_files"}
    assert api.post("/api/v1/sources/look", "rita", {**HERE, "settings": settings}).status_code in {403, 404}
    assert api.post("/api/v1/sources/look", "sam", {**HERE, "settings": settings}).status_code in {403, 404}
    hidden = {"connector": "files", "volume": "nosuch"}
    problem(api.post("/api/v1/sources/look", "ed", {**HERE, "settings": hidden}), 404, "not_found")
    problem(api.post("/api/v1/sources/look", "ed", {**HERE, "settings": {"connector": "?"}}), 422, "invalid_input")


def test_the_credentials_that_are_kept_are_used_by_editors_alone(here: InlineRuns, api: Api) -> None:
    with serve_fake_api() as other:
        other.routes["/v1/x"] = lambda asked: ApiResponse([{"id": asked.headers.get("Authorization", "")}])
        settings = {"connector": "api", "address": other.base, "auth": {"kind": "bearer"}}
        whole: dict[str, object] = {**settings, "endpoints": [{"name": "x", "path": "x"}]}
        source = here.source("kept", whole, {"token": "k3pt"})
        asked = {"source": source, "settings": whole, "stream": "x"}
        assert json_body(api.post("/api/v1/sources/look", "ed", asked))["rows"] == [["Bearer k3pt"]]
        assert api.post("/api/v1/sources/look", "rita", asked).status_code in {403, 404}


def test_a_query_says_what_it_gives_and_reads(api: Api) -> None:
    asked = {"workspace": "shop", "sql": "SELECT o.id FROM raw.orders o JOIN raw.customers c ON c.id = o.customer"}
    found = json_body(api.post("/api/v1/queries/describe", "ed", asked))
    assert found == {"fields": [{"name": "id", "type": "bigint"}], "reads": ["customers", "orders"]}
    asked["sql"] = "SELECT * FROM secret.hidden"
    problem(api.post("/api/v1/queries/describe", "ed", asked), 422, "query_failed")


def test_a_query_that_cannot_be_run_is_not_saved_by_rest(api: Api) -> None:
    body = {
        "kind": "lakehouse.query",
        "name": "by_rest",
        "edges": {"lakehouse": ["shop"], "reads": ["orders"], "writes": ["raw"], "into": ["raw"]},
    }
    for sql in (
        "not sql at all",
        "DROP TABLE raw.orders",
        "SELECT * FROM secret.hidden",
        "SELECT nothing FROM raw.orders",
    ):
        answer = api.post("/api/v1/resources", "ed", {**body, "settings": {"sql": sql}})
        assert problem(answer, 422, "invalid_input")["field"] == "sql"
    made = json_body(
        api.post("/api/v1/resources", "ed", {**body, "settings": {"sql": "SELECT id FROM raw.orders"}}), 201
    )
    where = f"/api/v1/resources/{made['id']}"
    wrong = {"settings": {"sql": "SELECT customr FROM raw.orders"}}
    answer = api.call("PATCH", where, "ed", json=wrong, headers={"If-Match": "*"})
    assert problem(answer, 422, "invalid_input")["field"] == "sql"
    assert json_body(api.get(where, "ed"))["settings"] == {"sql": "SELECT id FROM raw.orders"}


def test_a_result_is_saved_as_a_table_with_what_it_was_read_from(here: InlineRuns, api: Api) -> None:
    asked = {"workspace": "shop", "sql": "SELECT customer, count(*) AS n FROM raw.orders GROUP BY customer"}
    made = json_body(api.post("/api/v1/queries/save", "ed", {**asked, "layer": "raw", "name": "by_customer"}), 202)
    run = here.execute(made["run"])
    assert (run.state, run.error, run.steps[0].rows) == ("succeeded", "", 5)
    assert len(here.rows("by_customer")) == 5
    table = json_body(api.get(f"/api/v1/resources/{made['table']}", "ed"))
    assert [end["id"] for end in table["edges"]["saved_from"]] == ["orders"]
    again = here.run(made["table"])
    assert again.state == "succeeded"


def test_nothing_is_saved_where_one_may_not(api: Api) -> None:
    asked = {"workspace": "shop", "sql": "SELECT 1 AS one", "layer": "raw", "name": "mine"}
    problem(api.post("/api/v1/queries/save", "rita", asked), 403, "forbidden")
    problem(api.post("/api/v1/queries/save", "ed", {**asked, "name": "No Name"}), 422, "invalid_input")
    problem(api.post("/api/v1/queries/save", "ed", {**asked, "layer": "secret"}), 404, "not_found")
