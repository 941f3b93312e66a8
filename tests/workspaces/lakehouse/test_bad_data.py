"""What may be wrong with data or with where it is: the run says so in its place, and nothing that was there is lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import psycopg
import pytest

from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from tests import postgres
from tests.lake.shop import ED
from tests.lake.sources.fake_api import ApiResponse, serve_fake_api
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

FILES = {"connector": "files", "volume": "raw_files"}
FIRST = "id,word\n1,a\n2,b\n"
Rows = Sequence[tuple[object, ...]]


def filled(here: InlineRuns, name: str, content: str = FIRST, **settings: object) -> str:
    """A source of one file, whose table has been filled once."""
    here.put_file(f"{name}.csv", content)
    source = here.source(name, FILES)
    here.stream(source, "rows", stream=f"{name}.csv", **settings)
    assert here.run(source).state == "succeeded"
    return source


@pytest.mark.parametrize(
    ("evolution", "content", "words", "after"),
    [
        ("merge", "id,word,more\n3,c,x\n", "", [(3, "c", "x")]),
        ("merge", "id\n3\n", "", [(3, None)]),
        ("merge", "id,word\nthree,c\n", "cannot turn id of type string into the table's bigint", [(1, "a"), (2, "b")]),
        ("strict", "id,word\n3,c\n", "", [(3, "c")]),
        ("strict", "id,word,more\n3,c,x\n", "more is new", [(1, "a"), (2, "b")]),
        ("strict", "id\n3\n", "word is missing", [(1, "a"), (2, "b")]),
        ("strict", "id,word\nthree,c\n", "cannot turn id", [(1, "a"), (2, "b")]),
        ("overwrite", "id,more\nthree,x\n", "", [("three", "x")]),
    ],
)
def test_other_fields_are_taken_or_refused_by_name(
    here: InlineRuns, evolution: str, content: str, words: str, after: Rows
) -> None:
    name = f"evolves_{abs(hash((evolution, content)))}"
    source = filled(here, name, evolution=evolution)
    here.put_file(f"{name}.csv", content)
    run = here.run(source)
    assert (run.state, words in run.error) == ("failed" if words else "succeeded", True), run.error
    assert run.steps[0].error == run.error
    assert here.rows(f"{name}_rows") == after


@pytest.mark.parametrize("mode", ["merge", "mirror"])
def test_a_key_that_is_there_twice_or_not_at_all_changes_nothing(here: InlineRuns, mode: str) -> None:
    name = f"keys_{mode}"
    source = filled(here, name, mode=mode, keys=["id"])
    for content, words in (("id,word\n3,c\n3,d\n", "more than once, such as 3"), ("id,word\n3,c\n,d\n", "have no id")):
        here.put_file(f"{name}.csv", content)
        run = here.run(source)
        assert (run.state, words in run.error) == ("failed", True), run.error
        assert here.rows(f"{name}_rows") == [(1, "a"), (2, "b")]


def test_after_a_correction_the_same_run_goes_on(here: InlineRuns) -> None:
    source = filled(here, "mended", mode="merge", keys=["id"])
    here.put_file("mended.csv", "id,word\n2,x\n2,y\n")
    run = here.run(source)
    assert run.state == "failed"
    here.put_file("mended.csv", "id,word\n2,x\n")
    with here.shop.platform.write(ED) as ctx:
        RUNS.resume(ctx, run.id)
    assert here.execute(run.id).error == ""
    assert here.rows("mended_rows") == [(1, "a"), (2, "x")]


def test_more_bad_rows_than_are_let_pass_are_refused_with_an_example(here: InlineRuns) -> None:
    fields = [{"name": "id", "type": "bigint"}, {"name": "word", "type": "string"}]
    source = filled(here, "many_bad", format={"kind": "separated", "fields": fields}, most_bad=1)
    here.put_file("many_bad.csv", "id,word\n3,c\nx,d\ny,e\n")
    run = here.run(source)
    assert run.state == "failed"
    assert "2 rows cannot be read, and 1 are allowed" in run.error
    assert "'x'" in run.error
    assert here.rows("many_bad_rows") == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "no file|no stream|There is no|has no"), ("", "is empty"), ("id,word\n", "The source has no rows")],
    ids=["no file", "an empty file", "a header alone"],
)
def test_a_file_with_nothing_in_it_empties_no_table(here: InlineRuns, content: str | None, words: str) -> None:
    name = f"empty_{'none' if content is None else len(content)}"
    source = filled(here, name)
    if content is None:
        here.volume().remove(f"{name}.csv")
    else:
        here.put_file(f"{name}.csv", content)
    run = here.run(source)
    assert run.state == "failed"
    assert any(each in run.error for each in words.split("|")), run.error
    assert here.rows(f"{name}_rows") == [(1, "a"), (2, "b")]


def test_a_header_alone_adds_nothing(here: InlineRuns) -> None:
    source = filled(here, "added", mode="append")
    here.put_file("added.csv", "id,word\n")
    run = here.run(source)
    assert (run.state, run.error, run.steps[0].rows) == ("succeeded", "", 0)
    assert here.rows("added_rows") == [(1, "a"), (2, "b")]


def test_a_table_may_be_emptied_if_that_is_allowed(here: InlineRuns) -> None:
    source = filled(here, "emptied", allow_empty=True)
    here.put_file("emptied.csv", "id,word\n")
    assert here.run(source).error == ""
    assert here.rows("emptied_rows") == []


@pytest.mark.parametrize("mode", ["full", "append"])
def test_an_api_without_a_record_is_told_of_and_empties_nothing(here: InlineRuns, mode: str) -> None:
    with serve_fake_api() as api:
        api.routes["/v1/x"] = lambda _: ApiResponse({"rows": [{"id": 1}]})
        endpoint = {"name": "x", "path": "x", "records": "rows"}
        source = here.source(f"quiet_{mode}", {"connector": "api", "address": api.base, "endpoints": [endpoint]})
        here.stream(source, "x", stream="x", mode=mode)
        assert here.run(source).state == "succeeded"
        api.routes["/v1/x"] = lambda _: ApiResponse({"rows": []})
        run = here.run(source)
    assert (run.state, "No record has a field" in run.error) == ("failed", True), run.error
    assert here.rows(f"quiet_{mode}_x") == [(1,)]


def test_a_database_table_without_a_row_makes_a_table_without_one(here: InlineRuns, server: postgres.Server) -> None:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE nobody (id int, word text)")
    source = here.source("bare", _database(server, name))
    here.stream(source, "nobody", stream="public.nobody")
    run = here.run(source)
    assert (run.state, run.error, run.steps[0].rows) == ("succeeded", "", 0)
    assert here.rows("bare_nobody") == []
    server.drop(name)


def test_who_a_database_does_not_know_is_told_so_and_goes_on_when_it_does(
    here: InlineRuns, server: postgres.Server
) -> None:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
    source = here.source("stranger", {**_database(server, name), "user": "nobody_here"})
    here.stream(source, "t", stream="public.t")
    run = here.run(source)
    assert (run.state, "denied access" in run.error) == ("failed", True), run.error
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, source, ResourceEdit(settings=_database(server, name)))
        RUNS.resume(ctx, run.id)
    assert here.execute(run.id).error == ""
    assert here.rows("stranger_t") == [(1,)]
    server.drop(name)


@pytest.mark.parametrize(("status", "words"), [(401, "credentials"), (403, "credentials"), (500, "500")])
def test_an_api_that_refuses_is_told_by_what_it_says(here: InlineRuns, status: int, words: str) -> None:
    with serve_fake_api() as api:
        api.routes["/v1/x"] = lambda _: ApiResponse({"error": "no"}, status)
        settings = {"connector": "api", "address": api.base, "limits": {"retries": 0}}
        source = here.source(f"refuses_{status}", {**settings, "endpoints": [{"name": "x", "path": "x"}]})
        here.stream(source, "x", stream="x")
        run = here.run(source)
    assert (run.state, words in run.error or str(status) in run.error) == ("failed", True), run.error


def test_a_destination_that_is_not_there_is_told_of(here: InlineRuns) -> None:
    there = {"to": "database", "address": "jdbc:postgresql://127.0.0.1:9/x", "user": "x"}
    run = here.run(here.destination("away", there, ("customers",)))
    assert (run.state, "cannot be reached" in run.error) == ("failed", True), run.error


def test_an_hour_that_is_there_twice_stays_two(here: InlineRuns) -> None:
    """On the day when clocks go back, by offset; and a moment that no clock shows when they go forward."""
    filled(here, "clocks", "id,at\n1,2026-10-25T02:30:00+02:00\n2,2026-10-25T02:30:00+01:00\n")
    moments = [(1, datetime(2026, 10, 25, 0, 30, tzinfo=UTC)), (2, datetime(2026, 10, 25, 1, 30, tzinfo=UTC))]
    assert here.rows("clocks_rows") == moments
    filled(here, "gap", "id,at\n1,2026-03-29 02:30:00\n")
    assert here.rows("gap_rows") == [(1, datetime(2026, 3, 29, 2, 30))]  # noqa: DTZ001 - without a zone, as it came


def _database(server: postgres.Server, name: str) -> dict[str, object]:
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{name}"
    return {"connector": "database", "address": address, "user": postgres.USER}
