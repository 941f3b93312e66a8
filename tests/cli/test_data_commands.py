"""A lakehouse and what is run, by id or by name: on both ways."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lakehold import workspaces
from lakehold.catalog import resources
from lakehold.cli import app
from lakehold.directory.platform import Platform
from lakehold.workspaces import registry
from tests.cli.command_runner import CommandRunner
from tests.platform import ADA
from tests.runs.test_triggers import query


def lakehouse(platform: Platform, uid: str, name: str) -> None:
    with platform.write(ADA) as ctx:
        resources.create(ctx, "lakehouse.lakehouse", name, uid=uid, edges={"tenant": "acme"})


def test_a_lakehouse_is_asked_by_its_id_or_its_name(way: CommandRunner) -> None:
    lakehouse(way.platform, "lh_7", "Corner shop")
    for word in ("lh_7", "Corner shop", "corner SHOP"):
        said = way("sql", word, "SELECT 1")
        # It was found: all that is missing is a worker.
        assert (said.code, "worker" in said.err) == (7, True), said
    assert way("sql", "Corner", "SELECT 1").code == 3


def test_an_id_comes_before_a_name(way: CommandRunner) -> None:
    lakehouse(way.platform, "Twin", "Shop")
    lakehouse(way.platform, "lh_9", "Twin")
    assert "worker" in way("sql", "Twin", "SELECT 1").err


def test_of_several_with_one_name_the_ids_are_told(way: CommandRunner) -> None:
    query(way.platform, "daily")
    with way.platform.write(ADA) as ctx:
        resources.create(ctx, "lakehouse.history", "daily", uid="states", edges={"lakehouse": "lh"})
    several = way("run", "Daily", "--no-wait")
    assert several.code == 5
    assert all(uid in several.err for uid in ("daily", "states"))


def test_a_lakehouse_out_of_sight_is_not_found_by_its_name_either(way: CommandRunner) -> None:
    lakehouse(way.platform, "lh_7", "Corner shop")
    by_name, nothing = (way("sql", word, "SELECT 1", by="bob") for word in ("Corner shop", "Corner shed"))
    assert (by_name.code, nothing.code) == (3, 3)
    assert by_name.err.replace("shop", "shed") == nothing.err


def test_what_is_run_is_named_as_well(way: CommandRunner) -> None:
    query(way.platform, "daily")
    assert way("resource", "rename", "daily", "Daily sales").code == 0
    begun = way.json("run", "Daily sales", "--no-wait")
    assert begun["resource"] == "daily"
    assert [run["id"] for run in way.json("runs", "daily sales")] == [begun["id"]]
    assert [(run["cause"], run["cause_kind"]) for run in way.json("runs")] == [("by hand", "manual")]
    assert "Manual" in way("runs").out
    assert way("runs", "Daily sails").code == way("runs", "nothing").code
    assert way("run", "Daily sales", "--no-wait", by="bob").code == 3


def test_all_that_is_run_by_itself_is_known_by_name() -> None:
    assert {*workspaces.runnables()} - {*registry.runnable_kinds()} == {
        "lakehouse.table",
        "products.entity_table",
        "products.record_table",
    }


@pytest.mark.parametrize("option", ["--as", "--tenant"])
def test_a_server_is_not_told_who_asks(option: str) -> None:
    for verb in ("sql lh now", "check me see acme", "login"):
        said = CliRunner().invoke(app, [*verb.split(), option, "bob"])
        assert (said.exit_code, option in said.stderr, "--local" in said.stderr) == (2, True, True)
    for_scripts = CliRunner().invoke(app, ["check", "me", "see", "acme", option, "bob", "--json"])
    assert json.loads(for_scripts.stderr)["code"] == "invalid_input"


def test_no_server_and_a_server_are_not_asked_at_once() -> None:
    said = CliRunner().invoke(app, ["check", "me", "see", "acme", "--url", "http://127.0.0.1:1", "--local"])
    assert (said.exit_code, "--url" in said.stderr) == (2, True)
