"""Sources bring data in: from files of a volume, a real PostgreSQL and a real API that pages and fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from lakehold.access import Attribute
from lakehold.kit.errors import InvalidInputError, LakeholdError
from tests import postgres
from tests.lake.shop import RITA
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, FakeApi, serve_fake_api
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns, inline_runs

FILES = {"connector": "files", "volume": "raw_files"}
SECRET = "k3y-of-the-api"


@pytest.fixture(scope="module")
def database(server: postgres.Server) -> Iterator[str]:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE people (id int PRIMARY KEY, name text, seen timestamp)")
        connection.execute("INSERT INTO people SELECT n, 'p' || n, timestamp '2026-01-01' + n * interval '1 day'"
                           " FROM generate_series(1, 20) n")  # fmt: skip
    yield name
    server.drop(name)


def database_settings(server: postgres.Server, database: str) -> dict[str, object]:
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
    return {"connector": "database", "address": address, "user": postgres.USER}


def test_a_file_becomes_a_table_and_bad_rows_stand_beside_it(here: InlineRuns) -> None:
    here.put_file("orders.csv", "id,price\n1,2.5\n2,dear\n3,4.5\n")
    source = here.source("till", FILES)
    fields = [{"name": "id", "type": "bigint"}, {"name": "price", "type": "double"}]
    here.stream(source, "sold", stream="orders.csv", format={"kind": "separated", "fields": fields})
    run = here.run(source)
    assert (run.state, run.error) == ("succeeded", "")
    assert [(step.name, step.rows, step.bad) for step in run.steps] == [("sold", 2, 1)]
    assert here.rows("till_sold") == [(1, 2.5), (3, 4.5)]
    assert [row[:3] for row in here.rows("till_sold_rejected")] == [
        ("price is 'dear', which is no double.", "2,dear", "orders.csv")
    ]
    assert any("kept aside" in line for line in here.lines(run))


def test_files_that_fit_a_star_are_one_stream(here: InlineRuns) -> None:
    here.put_file("days/a-1.csv", "id\n1\n")
    here.put_file("days/a-2.csv", "id,more\n2,x\n")
    here.put_file("days/b-1.csv", "id\n9\n")
    source = here.source("days", {**FILES, "folder": "days"})
    here.stream(source, "all", stream="a-*.csv", mode="merge", keys=["id"])
    assert here.run(source).state == "succeeded"
    here.put_file("days/a-3.csv", "id,more\n3,y\n")
    assert here.run(source).state == "succeeded"
    assert {row[0] for row in here.rows("days_all")} == {1, 2, 3}
    here.put_file("days/a-4.csv", "id,more\n3,z\n")
    twice = here.run(source)
    assert (twice.state, "key" in twice.error) == ("failed", True)


def test_a_database_is_read_on_from_where_the_table_ends(
    here: InlineRuns, server: postgres.Server, database: str
) -> None:
    source = here.source("crm", database_settings(server, database))
    stream = {"stream": "public.people", "mode": "incremental", "cursor": "seen", "keys": ["id"]}
    here.stream(source, "people", **stream)
    assert here.run(source).steps[0].rows == 20
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute("INSERT INTO people VALUES (21, 'new', '2026-03-01')")
    second = here.run(source)
    assert (second.state, second.steps[0].rows) == ("succeeded", 1)
    assert len(here.rows("crm_people")) == 21
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute("DELETE FROM people WHERE id < 11")
    assert here.run(source, reload=True).state == "succeeded"
    assert len(here.rows("crm_people")) == 11


def test_rows_that_are_gone_from_a_mirror_go(here: InlineRuns, server: postgres.Server, database: str) -> None:
    source = here.source("mirror", database_settings(server, database))
    here.stream(source, "people", stream="public.people", mode="mirror", keys=["id"])
    before = here.run(source).steps[0].rows
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute("DELETE FROM people WHERE id = 21")
    assert here.run(source).state == "succeeded"
    assert len(here.rows("mirror_people")) == before - 1


def test_a_wrong_password_and_an_unreachable_host_are_told_and_no_secret_is(here: InlineRuns) -> None:
    address = "jdbc:postgresql://127.0.0.1:9/nothing"
    source = here.source("gone", {"connector": "database", "address": address, "user": "x"}, {"password": SECRET})
    here.stream(source, "people", stream="public.people")
    run = here.run(source)
    assert run.state == "failed"
    assert "cannot be reached" in run.error or "refused" in run.error
    assert SECRET not in run.error + "".join(here.lines(run))


ORDERS = {"name": "orders", "path": "/orders"}


@pytest.mark.parametrize(
    ("settings", "words", "field"),
    [
        ({"connector": "ftp"}, "cannot be 'ftp'", "connector"),
        ({"connector": "files"}, "no volume", "volume"),
        ({"connector": "database", "address": "nonsense"}, "not a JDBC address", "address"),
        ({"connector": "database", "adress": "jdbc:postgresql://h/d"}, "no address", "address"),
        (
            {"connector": "api", "address": "file:///etc", "endpoints": [ORDERS]},
            "address of the API is not valid",
            "address",
        ),
        ({"connector": "api", "address": "http://127.0.0.1"}, "needs endpoints", "endpoints"),
        (
            {"connector": "api", "address": "http://127.0.0.1", "endpoints": [{"name": "a", "path": ""}]},
            "no path",
            "endpoints.0.path",
        ),
        (
            {"connector": "api", "address": "http://127.0.0.1", "endpoints": [ORDERS], "auth": {"kind": "basic"}},
            "no user",
            "auth.user",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_not_saved(
    here: InlineRuns, settings: dict[str, object], words: str, field: str
) -> None:
    with pytest.raises(InvalidInputError, match=words) as caught:
        here.source("never", settings)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"connector": "database", "address": "jdbc:sqlite:/var/elsewhere"}, "not allowed here"),
        (
            {"connector": "api", "address": "http://127.0.0.1", "endpoints": [ORDERS], "auth": {"kind": "bearer"}},
            "has no token",
        ),
    ],
)
def test_what_only_a_run_can_tell_is_told_by_name(here: InlineRuns, settings: dict[str, object], words: str) -> None:
    source = here.source(f"wrong_{abs(hash(words))}", settings)
    here.stream(source, "some", stream="some")
    run = here.run(source)
    assert run.state == "failed"
    assert words in run.error


def test_an_api_that_pages_and_fails_is_read_to_its_end(here: InlineRuns) -> None:
    with serve_fake_api() as api:
        answers = iter(
            [ApiResponse(status=503), *(ApiResponse({"rows": [{"id": 2 * n}, {"id": 2 * n + 1}]}) for n in range(3))]
        )

        def answer(asked: ApiRequest) -> ApiResponse:
            assert asked.headers["Authorization"] == f"Bearer {SECRET}"
            return next(answers, ApiResponse({"rows": []}))

        api.routes["/v1/events"] = answer
        endpoint = {"name": "events", "path": "events", "records": "rows", "paging": {"by": "page"}}
        source = here.source("web", _api(api, endpoint), {"token": SECRET})
        here.stream(source, "events", stream="events")
        run = here.run(source)
    assert (run.state, run.steps[0].rows) == ("succeeded", 6)
    assert here.rows("web_events") == [(n,) for n in range(6)]
    assert SECRET not in "".join(here.lines(run))


def _api(api: FakeApi, endpoint: Mapping[str, object]) -> dict[str, object]:
    return {"connector": "api", "address": api.base, "auth": {"kind": "bearer"}, "endpoints": [endpoint]}


def test_a_stream_that_is_disabled_is_left_out(here: InlineRuns) -> None:
    here.put_file("x.csv", "id\n1\n")
    source = here.source("half", FILES)
    here.stream(source, "on", stream="x.csv")
    here.stream(source, "off", stream="nosuch.csv")
    with here.shop.platform.access.write("acme") as session:
        session.store.add(Attribute("half_off", "enabled", "false"))
    run = here.run(source)
    assert [step.name for step in run.steps] == ["on"]
    assert run.state == "succeeded"


def test_who_may_not_write_there_runs_nothing(here: InlineRuns) -> None:
    source = here.source("mine", FILES)
    here.stream(source, "some", stream="x.csv")
    with here.shop.platform.write(RITA) as ctx, pytest.raises(LakeholdError):
        RUNS.start(ctx, source)


def test_an_address_in_this_network_is_refused_unless_that_is_allowed(
    spark: SparkSession, template_file: Path, tmp_path: Path
) -> None:
    with inline_runs(spark, template_file, tmp_path, private_addresses=False) as strict:
        source = strict.source("near", {"connector": "database", "address": "jdbc:postgresql://127.0.0.1/x"})
        strict.stream(source, "some", stream="public.people")
        assert "this address are not allowed" in strict.run(source).error
