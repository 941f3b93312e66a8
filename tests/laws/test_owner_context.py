"""Data that arrives by a run in a data space ⊆ what the owner of the project may use, and whoever started it may run,
whatever was edited, granted, revoked, handed over or put behind a gateway before, or between the plan of the run and
its steps. And all of it arrives while both may: the law is no matter of refusing everything.

What each may is what this test keeps in its own books of who holds which role in which data space. To change a task
needs nothing of the data.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakehold import workspaces
from lakehold.access import Draft, Edge, Grant
from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY
from lakehold.kit.settings import Settings
from lakehold.runs import queue
from lakehold.runs.run_table import run_table
from lakehold.runs.runnable import RunOptions, Step, StepExecutors
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import MANUAL_CAUSE, Runs
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.worker.run_executor import RunExecutor
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces.spaces.datasets import PREPARED, fingerprint
from lakehold.workspaces.spaces.steps import (
    LandDataset,
    PrepareTask,
    ReplicateDataset,
    RunTransform,
    StoreDataset,
)
from tests.laws.budget import examples

TENANT = "acme"
SPACES = ("sales", "sources", "gates")
"""That of the project; that of what it reads elsewhere; that of a gateway."""
OWNERS, STARTERS = ("petra", "erik"), ("otto", "oona")
ROLES = ("can_edit", "can_operate", "can_consume_data", "can_manage", "can_view", "can_view_data")
PLACES = ("near", "far")
"""Where a connection or a task is: in the data space of the project, or elsewhere."""
RUNS = Runs(workspaces.runnables())
TRIGGERS, DAILY = Triggers(RUNS), TriggerSchedule("0 6 * * *")
STARTS: Mapping[str, tuple[str, RunOptions]] = {
    "task": ("task", RunOptions()),
    "reload": ("task", RunOptions(reload=True)),
    "prepare": ("task", RunOptions(parameters={"do": "prepare"})),
    "dataset": ("task.rows", RunOptions()),
    "project": ("ingest", RunOptions()),
}
"""What is run, and how."""
TYPES = ("landing", "storage", "transform", "replication")

Operation = tuple[str, str, Any]
people = st.sampled_from((*OWNERS, *STARTERS))
CHANGES: st.SearchStrategy[Operation] = st.one_of(
    st.tuples(st.sampled_from(["grant", "revoke"]), people, st.tuples(st.sampled_from(ROLES), st.sampled_from(SPACES))),
    st.tuples(st.just("hand over"), st.sampled_from(OWNERS), st.none()),
    st.tuples(st.just("use"), st.just("ed"), st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES))),
    st.tuples(st.sampled_from(["gateway", "no gateway"]), st.just("zoe"), st.none()),
    st.tuples(st.just("move"), st.just("zoe"), st.sampled_from(SPACES)),
)
RUN = st.tuples(
    st.just("run"), st.sampled_from(STARTERS), st.tuples(st.sampled_from(list(STARTS)), st.lists(CHANGES, max_size=3))
)
OPERATIONS = st.one_of(
    CHANGES, RUN, st.tuples(st.sampled_from(["schedule", "due"]), st.sampled_from(STARTERS), st.none())
)
# As things are at first: Petra may use all, and Otto may run it.
AT_FIRST = {
    ("olga", "owner", "sales"),
    ("zoe", "owner", "sources"),
    ("zoe", "owner", "gates"),
    ("petra", "can_edit", "sales"),
    ("petra", "can_consume_data", "sources"),
    ("petra", "can_manage", "gates"),
    ("otto", "can_operate", "sales"),
    ("oona", "can_view", "sales"),
    # Who edits tasks needs to see what they name, and nothing of its data.
    ("ed", "can_edit", "sales"),
    ("ed", "can_view", "sources"),
    ("ed", "can_view", "gates"),
}


@dataclass(slots=True)
class SpaceHistory:
    """A project with a task, as this test keeps the books, and what its runs have read."""

    platform: Platform
    type: str
    roles: set[tuple[str, str, str]] = field(default_factory=lambda: set(AT_FIRST))
    owner: str = "petra"
    places: tuple[str, str] = ("near", "near")
    """Where what the task reads is, and, if it writes elsewhere, where it writes."""
    gateway: bool = False
    """Whether the connection that is elsewhere is behind a gateway."""
    space: str = "sources"
    """The data space of that connection."""
    arrived: list[frozenset[str]] = field(default_factory=list)
    """The data spaces of all that was read, or written, by each step."""
    wrong: list[str] = field(default_factory=list)
    """What was read without a right: an assertion within a step would be an error of the run."""
    trigger: str = ""
    starter: str = ""
    days: int = 0

    def apply(self, operation: str, member: str, what: Any) -> None:  # noqa: ANN401 - as drawn
        match operation:
            case "grant" | "revoke":
                self.change_role(member, *what, gives=operation == "grant")
            case "hand over":
                self.hand_over(member)
            case "use":
                self.use(member, what)
            case "gateway" | "no gateway":
                self.put_behind_gateway(there=operation == "gateway")
            case "move":
                self.move(what)
            case "run":
                self.run(member, *what)
            case "schedule":
                self.schedule(member)
            case "due" if self.trigger:
                self.days += 2
                assert DueTriggers(RUNS).start_due(self.platform, self.platform.clock() + self.days * DAY) == 1
                self.execute(self.starter)

    def change_role(self, member: str, role: str, space: str, *, gives: bool) -> None:
        known = (member, role, space) in self.roles
        with self.platform.access.write(TENANT) as session:
            if gives and not known:
                session.store.add(Grant(member, role, space))
            elif known and not gives:
                session.store.remove(Grant(member, role, space))
        (self.roles.add if gives else self.roles.discard)((member, role, space))

    def hand_over(self, member: str) -> None:
        if member != self.owner:
            with self.platform.access.write(TENANT) as session:
                session.store.remove(Grant(self.owner, "owner", "ingest"))
                session.store.add(Grant(member, "owner", "ingest"))
            self.owner = member

    def use(self, member: str, places: tuple[str, str]) -> None:
        """Change what the task reads, which needs nothing of the data."""
        prepare(self.platform, member, "task", self.settings(places))
        self.places = places

    def settings(self, places: tuple[str, str]) -> Mapping[str, object]:
        source, target = places
        reference = {"task": f"{source}_task", "dataset": "rows"}
        match self.type:
            case "landing":
                datasets: list[dict[str, object]] = [{"name": "rows", "stream": "rows"}]
                return {"type": "landing", "connection": f"{source}_connection", "datasets": datasets}
            case "storage":
                datasets = [{"name": "rows", "source": reference, "keys": ["id"]}]
                return {"type": "storage", "datasets": datasets}
            case "transform":
                reads = sorted({f"{place}_task" for place in places})
                return {"type": "transform", "reads": reads, "datasets": [{"name": "rows", "sql": "SELECT 1 AS id"}]}
        tables = [{"source": reference, "table": "out"}]
        return {"type": "replication", "connection": f"{target}_connection", "tables": tables}

    def put_behind_gateway(self, *, there: bool) -> None:
        if there != self.gateway:
            with self.platform.access.write(TENANT) as session:
                change = session.store.add if there else session.store.remove
                change(Edge("gateway", "far_connection", "gate"))
            self.gateway = there

    def move(self, space: str) -> None:
        """Move the connection that is elsewhere into another data space."""
        if space != self.space:
            with self.platform.access.write(TENANT) as session:
                session.store.remove(Edge("space", "far_connection", self.space))
                session.store.add(Edge("space", "far_connection", space))
            self.space = space

    def schedule(self, member: str) -> None:
        if self.may_start(member) and self.owner_may():
            with self.platform.write(Caller(TENANT, member)) as ctx:
                self.trigger = TRIGGERS.save(ctx, "task", DAILY, uid=self.trigger or None).id
            self.starter = member

    def run(self, member: str, start: str, between: Sequence[Operation]) -> None:
        """As a schedule does: the run is inserted, and access is checked as it goes on."""
        uid, options = STARTS[start]
        if self.type == "replication" and start == "dataset":
            return
        with self.platform.write(Caller(TENANT, member)) as ctx:
            RUNS.insert(ctx, uid, options, cause=MANUAL_CAUSE)
        self.execute(member, between)

    def execute(self, starter: str, between: Sequence[Operation] = ()) -> None:
        """Execute what is queued; things may change between the plan and the first step."""
        self.arrived.clear()
        planned = self.may_start(starter) and self.owner_may()
        owner, places = self.owner, self.places
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=9)
        spark = SimpleNamespace(spark=MagicMock(), is_lost=lambda _wait: False)
        executor = RunExecutor(self.platform, RUNS.runnables, self.executors, cast("SparkRuntime", spark))
        problem, count = executor.begin(number)
        assert not (count and not planned), "planned without the right"
        for operation in between:
            self.apply(*operation)
        for place in range(count):
            problem = problem or executor.execute_step(number, place)
        with self.platform.database.write() as transaction:
            transaction.connection.execute(run_table.update().values(state="succeeded"))
        assert self.wrong == []
        assert not (self.arrived and owner != self.owner), "planned in the context of another owner"
        if planned and (owner, places) == (self.owner, self.places) and self.may_start(starter) and self.owner_may():
            assert not problem, problem
            assert self.arrived

    def executors(self) -> StepExecutors:
        return dict.fromkeys((PrepareTask, LandDataset, StoreDataset, RunTransform, ReplicateDataset), self.read)

    def read(self, step: Step, step_ctx: StepContext) -> StepResult:
        """Note what a step reads and writes; both people must have the right to it at this moment."""
        used: list[str] = []
        match step:
            case LandDataset():
                used = [step.connection]
            case StoreDataset():
                used = [step.source]
            case RunTransform():
                used = list(step.inputs)
            case ReplicateDataset():
                used = [step.source, step.connection]
            case PrepareTask():
                used = _named(step.settings)
        spaces = frozenset(space for uid in used for space in self.spaces_of(uid))
        if not self.may_start(step_ctx.caller.member):
            self.wrong.append(f"{step_ctx.caller.member} may not run it")
        if not self.holds(self.owner, {"owner", "can_edit"}, "sales"):
            self.wrong.append(f"{self.owner} may not edit it")
        self.wrong += [f"{self.owner} in {each}: {step}" for each in spaces if not self.supplies(each)]
        self.arrived.append(spaces)
        return StepResult()

    def spaces_of(self, uid: str) -> set[str]:
        """The data spaces in which whoever uses this needs a role, now."""
        if uid.startswith("near"):
            return {"sales"}
        if uid.startswith("far_task"):
            return {"sources"}
        return {self.space, *(["gates"] if self.gateway else [])}

    def owner_may(self) -> bool:
        """Whether the owner of the project may use all that the task is to use by its settings of this moment."""
        used = {space for uid in _named(self.settings(self.places)) for space in self.spaces_of(uid)}
        edits = self.holds(self.owner, {"owner", "can_edit"}, "sales")
        return edits and all(map(self.supplies, used))

    def supplies(self, space: str) -> bool:
        return self.holds(self.owner, {"owner", "can_consume_data", "can_edit", "can_manage"}, space)

    def may_start(self, member: str) -> bool:
        return self.holds(member, {"owner", "can_operate"}, "sales")

    def holds(self, member: str, roles: set[str], space: str) -> bool:
        return any((member, role, space) in self.roles for role in roles)


def _named(settings: Mapping[str, Any]) -> list[str]:
    """The connections and tasks that settings of a task name."""
    items = [*settings.get("datasets", ()), *settings.get("tables", ())]
    tasks = [item["source"]["task"] for item in items if item.get("source")]
    return [*filter(None, [settings.get("connection")]), *settings.get("reads", ()), *tasks]


def open_history(template_file: Path, folder: Path, kind: str) -> SpaceHistory:
    """A project of Petra's in a data space of Olga's, whose task may read from one of Zoe's."""
    shutil.copy(template_file, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder / "data", database=f"sqlite:///{folder / 'lakehold.sqlite'}"))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in sorted({member for member, _, _ in AT_FIRST} | set(OWNERS)):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        for space in SPACES:
            store.create("spaces.space", space.title(), uid=space, edges={"tenant": TENANT})
        for member, role, space in sorted(AT_FIRST):
            store.add(Grant(member, role, space))
        store.create("spaces.gateway", "gate", uid="gate", edges={"space": "gates"}, creator="zoe")
        store.create("spaces.project", "ingest", uid="ingest", edges={"space": "sales"}, creator="petra")
        store.create("spaces.project", "theirs", uid="theirs", edges={"space": "sources"}, creator="zoe")
    history = SpaceHistory(platform, kind)
    for place, space, project, owner in (("near", "sales", "ingest", "olga"), ("far", "sources", "theirs", "zoe")):
        with platform.write(Caller(TENANT, owner)) as ctx:
            at = {"connector": "database", "address": "jdbc:postgresql://db.invalid/shop"}
            connection = f"{place}_connection"
            resources.create(ctx, "spaces.connection", connection, uid=connection, edges={"space": space}, settings=at)
        create_task(platform, owner, f"{place}_task", project)
        prepare(platform, owner, f"{place}_task", SpaceHistory(platform, "landing").settings((place, place)))
    create_task(platform, "ed", "task", "ingest")
    history.use("ed", ("near", "near"))
    return history


def create_task(platform: Platform, member: str, name: str, project: str) -> None:
    """A task with its dataset."""
    with platform.write(Caller(TENANT, member)) as ctx:
        resources.create(ctx, "spaces.task", name, uid=name, edges={"project": project})
        ctx.create_unchecked(Draft("spaces.dataset", {"task": name}), "rows", uid=f"{name}.rows")


def prepare(platform: Platform, member: str, task: str, settings: Mapping[str, object]) -> None:
    """Save the settings of a task. It counts as prepared then, as if somebody had done that."""
    with platform.write(Caller(TENANT, member)) as ctx:
        resource_edit.apply_edit(ctx, task, ResourceEdit(settings=settings))
        stored = resource_metadata.load(ctx, task).settings
        resource_metadata.save_managed(ctx, task, {PREPARED: {"fingerprint": fingerprint(stored), "at": 0}})


_FAR: Operation = ("use", "ed", ("far", "far"))
_NEAR: Operation = ("use", "ed", ("near", "near"))
_RUN: Operation = ("run", "otto", ("task", []))
_TAKE: Operation = ("revoke", "petra", ("can_consume_data", "sources"))


@pytest.mark.parametrize("kind", TYPES)
@examples(40)
@given(operations=st.lists(OPERATIONS, min_size=4, max_size=14))
@example(operations=[_FAR, _RUN, _TAKE, _RUN])
@example(operations=[_FAR, ("hand over", "erik", None), _RUN])
@example(operations=[_FAR, ("gateway", "zoe", None), ("revoke", "petra", ("can_manage", "gates")), _RUN])
@example(operations=[_FAR, ("move", "zoe", "gates"), ("revoke", "petra", ("can_manage", "gates")), _RUN])
@example(operations=[_FAR, ("run", "otto", ("task", [_TAKE]))])
# What was planned to be read, by a task that names it no more.
@example(operations=[_FAR, ("run", "otto", ("task", [_NEAR, _TAKE]))])
@example(
    operations=[
        *(_FAR, ("gateway", "zoe", None)),
        ("run", "otto", ("task", [_NEAR, ("revoke", "petra", ("can_manage", "gates"))])),
    ]
)
@example(operations=[_FAR, ("run", "otto", ("task", [("revoke", "otto", ("can_operate", "sales"))]))])
@example(operations=[_FAR, ("run", "otto", ("task", [("revoke", "petra", ("can_edit", "sales"))]))])
# Who runs a project is asked about that, and its owner about each task.
@example(
    operations=[
        ("grant", "petra", ("can_consume_data", "sales")),
        ("run", "otto", ("project", [("revoke", "petra", ("can_edit", "sales"))])),
    ]
)
# To somebody who may use it all as well: each answers for what was planned in their own context.
@example(
    operations=[
        *(("grant", "erik", ("can_edit", "sales")), ("grant", "erik", ("can_edit", "sources")), _FAR),
        ("run", "otto", ("project", [("hand over", "erik", None)])),
    ]
)
@example(
    operations=[
        *(("schedule", "otto", None), ("due", "oona", None), _FAR),
        *(("revoke", "otto", ("can_operate", "sales")), ("due", "oona", None)),
    ]
)
def test_what_arrives_may_be_used_by_the_owner_of_the_project(
    template_file: Path, kind: str, operations: list[Operation]
) -> None:
    with TemporaryDirectory() as folder:
        history = open_history(template_file, Path(folder), kind)
        try:
            for operation in operations:
                history.apply(*operation)
        finally:
            history.platform.close()
