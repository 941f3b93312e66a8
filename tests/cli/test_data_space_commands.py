"""Data tasks, their datasets and projects, run, stopped, resumed and reloaded by an operator, by name: on both ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehold.access import Draft, Grant
from lakehold.catalog import resource_metadata, resources, workspaces
from lakehold.workspaces.spaces.datasets import PREPARED, fingerprint
from tests.cli.command_runner import CommandRunner
from tests.platform import ADA

QUERY = {"type": "transform", "datasets": [{"name": "orders", "sql": "SELECT 1 AS one"}]}


@pytest.fixture(autouse=True)
def _space(way: CommandRunner) -> None:
    """Ada owns it; Bob operates it, Ann edits it. Two of its projects have a task `orders`."""
    with way.platform.write(ADA) as ctx:
        uid = workspaces.create(ctx, "spaces", "Sales")
        for project in ("ingest", "serve"):
            resources.create(ctx, "spaces.project", project, uid=project, edges={"space": uid})
            task = resources.create(ctx, "spaces.task", "orders", edges={"project": project}, settings=QUERY)
            ctx.create_unchecked(Draft("spaces.dataset", {"task": task}), "orders")
            stored = resource_metadata.load(ctx, task).settings
            resource_metadata.save_managed(ctx, task, {PREPARED: {"fingerprint": fingerprint(stored), "at": 1}})
    with way.platform.access.write("acme") as session:
        session.store.add(Grant("bob", "can_operate", uid))
        session.store.add(Grant("ann", "can_edit", uid))


def test_an_operator_runs_stops_resumes_and_reloads(way: CommandRunner) -> None:
    run = way.json("run", "ingest/orders", "--no-wait", by="bob")
    assert (run["kind"], run["started_by"]) == ("spaces.task", "bob")
    assert way.json("stop", run["id"], by="bob")["state"] == "stopped"
    assert way.json("resume", run["id"], "--no-wait", by="bob")["state"] == "queued"
    reload = way.json("run", "ingest/orders/orders", "--reload", "--no-wait", by="bob")
    assert (reload["kind"], reload["reload"]) == ("spaces.dataset", True)
    assert way.json("run", "Ingest", "--no-wait", by="bob")["kind"] == "spaces.project"


def test_of_several_with_one_name_a_path_chooses(way: CommandRunner) -> None:
    several = way("run", "orders", "--no-wait", by="bob")
    assert (several.code, "longer path" in several.err) == (5, True)
    assert way("run", "sales/serve/orders", "--no-wait", by="ann").code == 4
    assert way("run", "nothing/orders", "--no-wait", by="bob").code == 3


def test_a_project_goes_to_another_space_as_a_file(way: CommandRunner, tmp_path: Path) -> None:
    file = tmp_path / "ingest.yaml"
    assert way("project", "export", "sales/ingest", str(file)).code == 0
    with way.platform.write(ADA) as ctx:
        workspaces.create(ctx, "spaces", "Test data")
    planned = way("project", "plan", "test data", str(file))
    assert (planned.code, planned.out) == (1, "create project ingest\ncreate task orders\n")
    assert way("project", "apply", "test data", str(file), "--yes").out.startswith("2 changes made")
    assert way("project", "plan", "test data", str(file)).code == 0
    assert way("project", "plan", "test data", str(file), "--connection", "shop").code == 2
