"""Rows that arrive by a run ⊆ what its starter and the authors of its definition may read, in a lakehouse and in marts,
whatever was edited, scheduled and revoked before, or between the plan of a run and its steps. Whoever changes how a
query is written, or a check of its rows, answers for that too, and takes the query over from nobody. The starter of
what a schedule runs is who last saved it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
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
from lakehold.access import Grant
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY
from lakehold.kit.errors import NotFoundError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import QueryError
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
from lakehold.workspaces.lakehouse.steps import DeliverTable, MaterialiseQuery, UpdateHistory
from lakehold.workspaces.marts.pipelines import RefreshMart, RunChecks
from lakehold.workspaces.marts.settings import DATA_MART
from tests.laws.budget import examples

TENANT = "acme"
TABLES = ("open", "shared", "closed")
MEMBERS = ("ada", "ed", "rita")
RUNS = Runs(workspaces.runnables())
TRIGGERS, DAILY = Triggers(RUNS), TriggerSchedule("0 6 * * *")
KINDS = {
    "query": "lakehouse.query",
    "history": "lakehouse.history",
    "destination": "lakehouse.destination",
    "mart": "marts.data_mart",
}
"""What the law is tested on."""
_FLOWS = "tests/workspaces/{}/test_authors.py::test_"
_SPACES = "tests/laws/test_owner_context.py::test_what_arrives_may_be_used_by_the_owner_of_the_project"
_PRODUCTS = "tests/workspaces/products/test_sources.py::test_"
ELSEWHERE = {
    "lakehouse.source": f"{_FLOWS.format('lakehouse')}an_editor_cannot_point_a_source_at_a_volume_of_others",
    "lakehouse.table": f"{_FLOWS.format('lakehouse')}a_saved_table_reads_as_the_author_of_its_query_too",
    **{f"spaces.{kind}": _SPACES for kind in ("task", "dataset", "project")},
    "products.source": f"{_PRODUCTS}it_reads_only_what_its_author_and_its_starter_read",
    "products.product": f"{_PRODUCTS}a_data_product_reads_no_source_that_its_author_no_longer_sees",
    "products.workflow": f"{_PRODUCTS}who_makes_a_workflow_does_not_answer_for_a_source",
    **{f"products.{kind}_table": f"{_PRODUCTS}nobody_runs_a_table" for kind in ("record", "entity")},
    "marts.report": f"{_FLOWS.format('marts')}an_owner_who_lost_the_mart_gets_no_rows_by_editing_the_report",
}
"""The flow of each other kind that can be run, or the law of its own."""
members, tables = st.sampled_from(MEMBERS), st.sampled_from(TABLES)
Operation = tuple[str, str, Any]
CHANGES: st.SearchStrategy[Operation] = st.one_of(
    st.tuples(st.sampled_from(["define", "check"]), members, st.sets(tables, min_size=1)),
    st.tuples(st.just("tune"), members, st.sampled_from(["overwrite", "append"])),
    st.tuples(st.sampled_from(["describe", "take over"]), members, st.none()),
    st.tuples(st.sampled_from(["grant", "revoke"]), members, tables),
)
OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    CHANGES,
    st.tuples(st.sampled_from(["schedule", "resume", "due"]), members, st.none()),
    st.tuples(st.just("run"), members, st.lists(CHANGES, max_size=2)),
)


@dataclass(slots=True)
class NamedTables:
    """Stands for Spark and its guard: a query reads the tables that it names, if its caller may."""

    platform: Platform

    def analyse(self, caller: Caller, workspace: str, text: str, *, seconds: int) -> tuple[Any, frozenset[str]]:
        del workspace, seconds
        named = frozenset(text.removeprefix("SELECT ").split(", "))
        with self.platform.access.read(TENANT) as session:
            if not all(session.check(caller.member, "read", table) for table in named):
                raise QueryError("There is no such table.")
        return None, named


@dataclass(slots=True)
class History:
    """A definition with its authors, as this test keeps the books, and what its runs have read."""

    platform: Platform
    uid: str
    authors: dict[str, str] = field(default_factory=lambda: {"define": "ada", "check": "ada"})
    """By what they did last; `tune` only if it was done after the query was defined."""
    says: dict[str, Any] = field(default_factory=lambda: {"define": frozenset({"open"})})
    """What the definition says: who saves the same again does not change it."""
    arrived: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    trigger: str = ""
    starter: str = ""
    """Who last saved the trigger, or resumed it."""
    days: int = 0
    """How many have passed for the scheduler."""

    def apply(self, operation: str, member: str, what: Any) -> None:  # noqa: ANN401 - as drawn
        caller = Caller(TENANT, member)
        if operation in {"check", "tune"} and self.uid not in {"query", "mart"}:
            return
        if operation == "define" and self.uid == "history":
            what = {min(what)}
        try:
            with self.platform.write(caller) as ctx:
                match operation:
                    case "define" | "check" | "tune":
                        resource_edit.apply_edit(ctx, self.uid, self.definition({**self.says, operation: what}))
                    case "describe":
                        resource_edit.apply_edit(ctx, self.uid, ResourceEdit(description=f"by {member}"))
                    case "take over":
                        resource_edit.take_over(ctx, self.uid)
                    case "schedule":
                        self.trigger = TRIGGERS.save(ctx, self.uid, DAILY, uid=self.trigger or None).id
                    case "resume" if self.trigger:
                        TRIGGERS.set_active(ctx, self.trigger, active=False)
                        TRIGGERS.set_active(ctx, self.trigger, active=True)
        except (DeniedError, HiddenError, NotFoundError):
            return
        if operation == "take over":
            self.authors = {"define": member, "check": member}
        elif operation in {"define", "check", "tune"}:
            self.keep_books(operation, member, what)
        elif operation in {"grant", "revoke"}:
            self.change_level(member, what, gives=operation == "grant")
        elif operation in {"schedule", "resume"}:
            self.starter = member
        elif operation == "run":
            self.run(caller, what or ())
        elif operation == "due":
            self.run_due()

    def keep_books(self, operation: str, member: str, what: Any) -> None:  # noqa: ANN401 - as drawn
        if what == self.says.get(operation, "overwrite") or (operation == "check" and self.uid == "query"):
            return
        self.says[operation], self.authors[operation] = what, member
        if operation == "define":
            self.authors.pop("tune", None)

    def definition(self, says: dict[str, Any]) -> ResourceEdit:
        sql, tuned = _select(says["define"]), says.get("tune", "overwrite")
        if self.uid == "query":
            settings = {"sql": sql, "table": "out", "mode": tuned}
            return ResourceEdit(settings=settings, edges={"reads": sorted(says["define"])})
        if self.uid != "mart":
            return ResourceEdit(edges={"reads": sorted(says["define"])})
        checks = [{"check": "sql", "sql": _select(says["check"])}] if "check" in says else []
        cursor = {"cursor": "day"} if tuned == "append" else {}
        return ResourceEdit(settings={"by": "sql", "sql": sql, "checks": checks, **cursor})

    def change_level(self, member: str, table: str, *, gives: bool) -> None:
        with self.platform.access.write(TENANT) as session:
            held = session.read_view(lambda view: view.grants_on(view.resource(table)))
            for grant in held:
                if grant.subject == member:
                    session.store.remove(grant)
            if gives:
                session.store.add(Grant(member, "editor", table))

    def run(self, caller: Caller, between: Sequence[Operation] = ()) -> None:
        """As a schedule does: the run is inserted, and access is checked as it goes on."""
        with self.platform.write(caller) as ctx:
            RUNS.insert(ctx, self.uid, RunOptions(), cause=MANUAL_CAUSE)
        self.execute(caller.member, between)

    def run_due(self) -> None:
        if self.trigger:
            self.days += 2
            assert DueTriggers(RUNS).start_due(self.platform, self.platform.clock() + self.days * DAY) == 1
            self.execute(self.starter)

    def execute(self, starter: str, between: Sequence[Operation] = ()) -> None:
        """Execute what is queued; things may change between the plan and the first step."""
        before, known = len(self.arrived), dict(self.authors)
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=9)
        spark = SimpleNamespace(queries=NamedTables(self.platform), spark=MagicMock(), is_lost=lambda _wait: False)
        running = RunExecutor(self.platform, RUNS.runnables, self.executors, cast("SparkRuntime", spark))
        problem, count = running.begin(number)
        for operation in between:
            self.apply(*operation)
        for place in range(count):
            problem = problem or running.execute_step(number, place)
        with self.platform.database.write() as transaction:
            transaction.connection.execute(run_table.update().values(state="succeeded"))
        with self.platform.access.read(TENANT) as session:
            for part, read in self.arrived[before:]:
                authors = [known[each] for each in (part, "tune") if each in known]
                for member in (starter, *(authors if part == "define" else authors[:1])):
                    assert all(session.check(member, "read", table) for table in read), f"{member}: {part}"

    def executors(self) -> StepExecutors:
        return dict.fromkeys((MaterialiseQuery, UpdateHistory, DeliverTable, RefreshMart, RunChecks), self.read)

    def read(self, step: Step, step_ctx: StepContext) -> StepResult:
        match step:
            case RunChecks():
                (check,) = DATA_MART.parse(step.settings).checks
                self.arrived.append(("check", step_ctx.run_query("", check.sql)[1]))
            case UpdateHistory() | DeliverTable():
                self.arrived.append(("define", frozenset(step.reads)))
            case MaterialiseQuery():
                self.arrived.append(("define", step_ctx.run_query("", step.sql)[1]))
            case RefreshMart():
                self.arrived.append(("define", step_ctx.run_query("", str(step.settings["sql"]))[1]))
        return StepResult()


def _select(named: set[str]) -> str:
    return f"SELECT {', '.join(sorted(named))}"


SETTINGS: dict[str, dict[str, object]] = {
    "query": {"sql": "SELECT open", "table": "out"},
    "history": {"keys": ["id"], "table": "out"},
    "destination": {"to": "webhook", "address": "https://127.0.0.1/in"},
}


def open_history(template_file: Path, folder: Path, uid: str) -> History:
    """A pipeline of Ada's, who is an Owner. Ed and Rita may edit it, and read some tables."""
    shutil.copy(template_file, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder / "data", database=f"sqlite:///{folder / 'lakehold.sqlite'}"))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in MEMBERS:
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.add(Grant("ada", "owner", TENANT))
        store.create("lakehouse.lakehouse", "Shop", uid="shop", edges={"tenant": TENANT})
        store.create("marts.project", "Sales", uid="sales", edges={"tenant": TENANT})
        for layer in ("in", "out"):
            store.create("lakehouse.layer", layer, uid=layer, edges={"lakehouse": "shop"})
        for table in TABLES:
            store.create("lakehouse.table", table, uid=table, edges={"layer": "in"})
        for member in ("ed", "rita"):
            for role, resource in (("member", "shop"), ("editor", "out"), ("technical_user", "sales")):
                store.add(Grant(member, role, resource))
            store.add(Grant(member, "editor", "open"))
        store.add(Grant("ed", "editor", "shared"))
    with platform.write(Caller(TENANT, "ada")) as ctx:
        attributes = {"shared_for_maintenance": "true"}
        settings = {"kind": "lake", "lakehouse": "shop"}
        storage = resources.create(
            ctx, "marts.storage", "Lake", edges={"project": "sales"}, attributes=attributes, settings=settings
        )
        if uid == "mart":
            edges = {"project": "sales", "storage": storage}
            settings = {"by": "sql", "sql": "SELECT open"}
            resources.create(ctx, KINDS[uid], uid, uid=uid, edges=edges, attributes=attributes, settings=settings)
        else:
            out = {} if uid == "destination" else {"writes": "out", "into": "out"}
            ends = {"lakehouse": "shop", "reads": "open", **out}
            resources.create(ctx, KINDS[uid], uid, uid=uid, edges=ends, settings=SETTINGS[uid])
    return History(platform, uid)


@pytest.mark.parametrize("uid", KINDS)
@examples(40)
@given(operations=st.lists(OPERATIONS, min_size=4, max_size=14))
@example(operations=[("define", "rita", {"closed"}), ("run", "ada", None)])
@example(operations=[("define", "rita", {"closed"}), ("tune", "ada", "append"), ("check", "ada", {"open"})])
@example(operations=[("define", "ada", {"closed"}), ("tune", "rita", "append"), ("run", "ada", None)])
@example(operations=[("check", "rita", {"closed"}), ("define", "ada", {"shared"})])
@example(operations=[("define", "ed", {"shared"}), ("run", "ada", [("revoke", "ed", "shared")])])
@example(operations=[("define", "ada", {"shared"}), ("run", "ed", [("revoke", "ed", "shared")])])
@example(
    operations=[
        ("define", "ed", {"shared"}),
        ("describe", "ada", None),
        ("revoke", "ed", "shared"),
        ("run", "ada", None),
    ]
)
@example(
    operations=[
        ("schedule", "ada", None),
        ("define", "ed", {"shared"}),
        ("revoke", "ed", "shared"),
        ("due", "ed", None),
        ("schedule", "rita", None),
        ("due", "ada", None),
        ("resume", "ada", None),
        ("take over", "ada", None),
        ("due", "rita", None),
    ]
)
def test_rows_that_arrive_are_readable_by_starter_and_author(
    template_file: Path, uid: str, operations: list[Operation]
) -> None:
    with TemporaryDirectory() as folder:
        history = open_history(template_file, Path(folder), uid)
        try:
            for operation in operations:
                history.apply(*operation)
            for member in MEMBERS:
                history.run(Caller(TENANT, member))
        finally:
            history.platform.close()


@pytest.mark.parametrize("uid", KINDS)
def test_something_arrives(template_file: Path, tmp_path: Path, uid: str) -> None:
    history = open_history(template_file, tmp_path, uid)
    shared = ("define", frozenset({"shared"}))
    history.apply("define", "ed", {"shared"})
    for operation, member in (("run", "ada"), ("run", "rita")):
        history.apply(operation, member, None)
    assert history.arrived == [shared]
    for operation, member in (("schedule", "ada"), ("due", "rita"), ("schedule", "ed"), ("due", "rita")):
        history.apply(operation, member, None)
    assert (history.starter, history.arrived) == ("ed", [shared] * 3)
    history.apply("revoke", "ed", "shared")
    for operation, member in (("due", "rita"), ("resume", "ada"), ("due", "ada")):
        history.apply(operation, member, None)
    assert (history.starter, history.arrived) == ("ada", [shared] * 3)
    history.apply("take over", "ada", None)
    history.apply("due", "rita", None)
    assert history.arrived == [shared] * 4
    history.platform.close()


def test_every_kind_that_can_be_run_is_in_the_law_or_has_a_flow_of_its_own() -> None:
    assert {*RUNS.runnables} == {*KINDS.values(), *ELSEWHERE}
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
