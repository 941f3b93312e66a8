"""table, lineage, and a run over a span: on both ways."""

from __future__ import annotations

from tests.cli.command_runner import CommandRunner
from tests.runs.test_triggers import query


def test_what_something_is_made_from(way: CommandRunner) -> None:
    query(way.platform, "daily")
    found = way.json("lineage", "orders")
    assert [item["id"] for item in found["down"]["items"]] == ["daily"]
    assert "daily" in way("lineage", "orders", "--depth", "1").out
    assert way("lineage", "bronze").code == 2
    assert way("lineage", "orders", by="bob").code == 3
    assert way("grant", "bob", "viewer", "orders").code == 0
    assert "more, not visible to you" in way("lineage", "orders", by="bob").out


def test_a_table_is_kept_up_and_one_without_rows_cannot_be_rolled_back(way: CommandRunner) -> None:
    begun = way.json("table", "keep", "orders", "--no-wait")
    assert (begun["resource"], begun["state"]) == ("orders", "queued")
    assert way("table", "keep", "bronze", "--no-wait").code == 2
    assert way("table", "rollback", "orders", "7", "--no-wait").code == 3
    assert way("table", "describe", "orders", "id", "Its number.", "--no-wait").code == 3
    assert "No data yet" in way("table", "snapshots", "orders").out
    assert way("table", "dropped").out.strip() == "No tables."
    assert way("table", "restore", "orders").code == 3


def test_a_span_is_refused_where_it_has_no_meaning(way: CommandRunner) -> None:
    query(way.platform, "daily")
    assert way("run", "daily", "--from", "1", "--no-wait").code == 5
    assert way("run", "daily", "--reload", "--until", "2", "--no-wait").code == 2
    assert way("run", "daily", "--no-wait").code == 0
