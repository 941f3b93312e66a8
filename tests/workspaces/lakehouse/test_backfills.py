"""A past span is run anew: by the cursor of a source, or of a query. Twice is as once."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lakehold.catalog import resources
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.runs.runnable import BackfillSpan, RunOptions
from tests import postgres
from tests.lake.shop import ED
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

MIDDLE = BackfillSpan("2026-01-05", "2026-01-08")


@pytest.fixture
def database(server: postgres.Server) -> Iterator[str]:
    name = server.create()
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE visits (id int, word text, day date)")
        connection.execute("INSERT INTO visits SELECT n, 'old', date '2026-01-01' + n FROM generate_series(1, 9) n")
    yield name
    server.drop(name)


def changed(server: postgres.Server, database: str) -> None:
    """Some rows of each part are others by now, one is gone, and one is new in the middle."""
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        connection.execute("UPDATE visits SET word = 'new'")
        connection.execute("DELETE FROM visits WHERE id = 5")
        connection.execute("INSERT INTO visits VALUES (50, 'late', '2026-01-06')")


def visits(here: InlineRuns, server: postgres.Server, database: str, name: str, **settings: object) -> str:
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"
    source = here.source(name, {"connector": "database", "address": address, "user": postgres.USER})
    stream = {"stream": "public.visits", "mode": "incremental", "cursor": "day", **settings}
    here.stream(source, "visits", **stream)
    here.stream(source, "whole", stream="public.visits")
    assert here.run(source).state == "succeeded"
    changed(server, database)
    return source


def words(here: InlineRuns, table: str) -> dict[object, object]:
    return {row[0]: row[1] for row in here.rows(table)}


def test_without_keys_the_span_takes_the_place_of_what_it_was(
    here: InlineRuns, server: postgres.Server, database: str
) -> None:
    source = visits(here, server, database, "span_plain")
    old = dict.fromkeys(range(1, 10), "old")
    for _ in range(2):
        run = here.run(source, span=MIDDLE)
        assert (run.state, run.error, run.span) == ("succeeded", "", MIDDLE)
        assert [(step.name, step.rows) for step in run.steps] == [("visits", 3)]
        found = words(here, "span_plain_visits")
        # The fifth is gone there by now; days before and behind the span are as they were.
        assert found == {each: old[each] for each in old if each != 5} | {4: "new", 6: "new", 50: "late"}
        assert len(here.rows("span_plain_visits")) == 9
    assert here.run(source).steps[0].rows == 0


def test_with_keys_the_rows_of_the_span_are_found_by_them(
    here: InlineRuns, server: postgres.Server, database: str
) -> None:
    source = visits(here, server, database, "span_keyed", keys=["id"])
    for _ in range(2):
        assert here.run(source, span=BackfillSpan(until="2026-01-05")).state == "succeeded"
        found = words(here, "span_keyed_visits")
        assert [each for each in found if found[each] == "new"] == [1, 2, 3]
        assert len(here.rows("span_keyed_visits")) == 9


def test_what_is_no_value_of_the_cursor_is_told(here: InlineRuns, server: postgres.Server, database: str) -> None:
    source = visits(here, server, database, "span_wrong")
    run = here.run(source, span=BackfillSpan("yesterday"))
    assert (run.state, run.error.partition(",")[0]) == ("failed", "'yesterday' is not a valid value of day")
    assert words(here, "span_wrong_visits") == dict.fromkeys(range(1, 10), "old")


def made(here: InlineRuns, name: str, kind: str = "query", **settings: object) -> str:
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": ["orders"], "writes": ["raw"], "into": "raw"}
        stream_settings = {"table": name, **settings}
        return resources.create(ctx, f"lakehouse.{kind}", name, uid=name, edges=edges, settings=stream_settings)


def test_a_query_that_names_a_cursor_fills_a_part_of_its_table(here: InlineRuns) -> None:
    uid = made(here, "span_query", sql="SELECT id, amount FROM raw.orders", cursor="id")
    for span, rows in ((BackfillSpan("10", "20"), 10), (BackfillSpan("10", "20"), 10), (BackfillSpan("15", "25"), 15)):
        assert here.run(uid, span=span).state == "succeeded"
        assert len(here.rows("span_query")) == rows
    assert here.run(uid).state == "succeeded"
    assert len(here.rows("span_query")) == 100


def refusal(here: InlineRuns, uid: str, options: RunOptions) -> LakeholdError:
    with pytest.raises(LakeholdError) as refused, here.shop.platform.write(ED) as ctx:
        RUNS.start(ctx, uid, options)
    return refused.value


def test_where_a_span_has_no_meaning_it_is_refused_at_once(here: InlineRuns) -> None:
    span = RunOptions(span=BackfillSpan("1", "2"))
    here.put_file("span.csv", "id\n1\n")
    source = here.source("span_files", {"connector": "files", "volume": "raw_files"})
    here.stream(source, "all", stream="span.csv")
    whole = refusal(here, source, span)
    assert (type(whole), "read by a cursor" in whole.message) == (ConflictError, True)
    plain = refusal(here, made(here, "span_none", sql="SELECT 1 AS one"), span)
    assert (type(plain), "names no cursor" in plain.message) == (ConflictError, True)
    mirror = made(here, "span_mirror", sql="SELECT 1 AS one", cursor="one", mode="mirror", keys=["one"])
    assert "mirror mode" in refusal(here, mirror, span).message
    history = made(here, "span_history", "history", keys=["id"])
    assert refusal(here, history, span).message == "A history cannot be backfilled."
    cursor = made(here, "span_cursor", sql="SELECT 1 AS one", cursor="one")
    for wrong in (
        RunOptions(span=BackfillSpan()),
        RunOptions(reload=True, span=BackfillSpan("1")),
        RunOptions(span=BackfillSpan("1" * 201)),
    ):
        assert type(refusal(here, cursor, wrong)) is InvalidInputError
