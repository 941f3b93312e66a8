"""A task runs as the owner of its data project: each start asks that person too, and a refusal says what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import psycopg
import pytest

from lakehold.access import Draft
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import LakeholdError
from lakehold.ledger.audit import AuditFilter
from lakehold.runs.runnable import RunOptions
from tests.workspaces.spaces.space import (
    ADA,
    CARL,
    ERIK,
    OTTO,
    PETRA,
    PREPARE,
    RUNS,
    VERA,
    VITO,
    InlineSpace,
)
from tests.workspaces.spaces.test_tasks import fill, landing

_numbers = count()


@contextmanager
def without(space: InlineSpace, member: str, role: str, where: str) -> Iterator[None]:
    """The role is taken, and given back."""
    space.revoke(member, role, where)
    try:
        yield
    finally:
        space.grant(member, role, where)


@pytest.fixture(scope="module")
def task(space: InlineSpace) -> str:
    """A task that reads a connection of another space; it is never begun."""
    with space.platform.read(ADA) as ctx:
        shop = ctx.view.uid(ctx.session.list("zoe", "list", "spaces.connection", within="sources").items[0].id)
    return space.task("asked", landing(shop, "asked"))


def start(space: InlineSpace, task: str, by: Caller = OTTO, *, reload: bool = False) -> None:
    with space.platform.write(by) as ctx:
        RUNS.start(ctx, task, RunOptions(reload, parameters=PREPARE))
        raise StartedError


class StartedError(Exception):
    """The run would have been started; the transaction is rolled back."""


@pytest.mark.parametrize(
    ("role", "where", "named"),
    [
        ("can_edit", "sales", "Petra needs Can edit in the data space 'Sales'."),
        (
            "can_consume_data",
            "sources",
            "Petra needs Can consume data, Can edit or Can manage in the data space 'Sources'.",
        ),
    ],
)
def test_a_refusal_names_person_role_and_space(
    space: InlineSpace, task: str, role: str, where: str, named: str
) -> None:
    with pytest.raises(StartedError):
        start(space, task)
    with without(space, "petra", role, where), pytest.raises(DeniedError) as found:
        start(space, task)
    assert named in found.value.message
    assert ("Olga" if where == "sales" else "Zoe") in found.value.hint


@pytest.mark.parametrize("by", [ERIK, VERA, CARL, VITO, PETRA, ADA])
def test_who_may_not_operate_is_refused_for_that(space: InlineSpace, task: str, by: Caller) -> None:
    with pytest.raises(DeniedError) as found:
        start(space, task, by)
    assert "Petra needs" not in found.value.message


@pytest.fixture
def pointed(space: InlineSpace, shop: str) -> Iterator[tuple[str, str]]:
    """A task that reads a connection in a space where the owner of its project has no role; and the project."""
    with space.platform.write(ERIK) as ctx:
        project = ctx.create("spaces.project", f"pointed {next(_numbers)}", edges={"space": "sales"})
    space.grant("petra", "owner", project)
    space.revoke("erik", "owner", project)
    uid = space.task("pointed", landing(shop, "pointed"), project=project)
    with without(space, "petra", "can_consume_data", "sources"):
        yield uid, project


def test_a_task_runs_only_with_the_owners_roles(space: InlineSpace, pointed: tuple[str, str]) -> None:
    with pytest.raises(DeniedError, match="Petra needs Can consume data"):
        start(space, pointed[0])


def test_a_dataset_runs_only_with_the_owners_roles(space: InlineSpace, pointed: tuple[str, str]) -> None:
    with space.platform.write(ADA) as ctx:
        dataset = ctx.create_unchecked(Draft("spaces.dataset", {"task": pointed[0]}), "pointed")
    with pytest.raises(DeniedError, match="Petra needs Can consume data"):
        space.start(dataset)


def test_a_project_runs_only_with_the_owners_roles(space: InlineSpace, pointed: tuple[str, str]) -> None:
    with pytest.raises(DeniedError, match="Petra needs Can consume data"):
        space.start(pointed[1])


def test_another_owner_is_asked_instead(space: InlineSpace, task: str) -> None:
    with without(space, "petra", "owner", "ingest"):
        space.grant("erik", "owner", "ingest")
        try:
            with pytest.raises(DeniedError, match="Erik needs Can consume data"):
                start(space, task)
        finally:
            space.revoke("erik", "owner", "ingest")


def test_a_role_that_is_lost_after_the_start_refuses_the_run(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    fill(source, "later")
    uid = space.make("later", landing(shop, "later"))
    with space.platform.write(OTTO) as ctx:
        run = RUNS.start(ctx, uid).id
    with without(space, "petra", "can_consume_data", "sources"):
        space.execute_next()
    found = space.get(run)
    assert found.state == "failed"
    assert "Petra needs Can consume data" in found.error
    assert space.rows(uid, "later") == []


@pytest.mark.parametrize("options", [RunOptions(parameters=PREPARE), RunOptions()], ids=["prepare", "run"])
def test_a_planned_step_needs_the_roles_for_what_it_reads_whatever_its_task_names_by_now(
    space: InlineSpace, source: psycopg.Connection, shop: str, options: RunOptions
) -> None:
    name = f"planned_{next(_numbers)}"
    fill(source, name)
    uid = space.make(name, landing(shop, name))
    with space.platform.write(OTTO) as ctx:
        run = RUNS.start(ctx, uid, options).id

    def repoint() -> None:
        space.edit(uid, {"type": "transform", "reads": [], "datasets": []})
        space.revoke("petra", "can_consume_data", "sources")

    try:
        space.execute_next(repoint)
    finally:
        space.grant("petra", "can_consume_data", "sources")
    found = space.get(run)
    assert found.state == "failed"
    assert "Petra needs Can consume data" in found.error


def test_both_names_are_in_the_audit_log(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "noted")
    uid = space.make("noted", landing(shop, "noted"))
    run = space.run(uid)
    with space.platform.read(ADA) as ctx:
        entries = [each.entry for each in ctx.audit.page(AuditFilter(), limit=200)]
        entry = next(each for each in entries if each.after.get("run") == run.id)
    assert (entry.member, entry.after["as"]) == ("otto", "petra")


def test_rows_are_read_with_the_roles_for_data_alone(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "seen")
    uid = space.make("seen", landing(shop, "seen"))
    space.run(uid)
    text = "SELECT name FROM lake.`Sales`.ingest.seen.seen WHERE id = 1"
    assert space.ask(CARL, text) == [("n1",)]
    for other in (VERA, OTTO, ERIK, VITO, ADA, PETRA):
        with pytest.raises(LakeholdError) as found:
            space.ask(other, text)
        assert "n1" not in str(found.value)
