"""Validates data tasks: what keeps one from being prepared or run, and what prepare would do to its tables.

The settings, the graph and the roles of the project's owner are checked here. Then a worker asks the sources, compares
columns and compiles queries, unless something is wrong already.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakehold import workspaces
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError, LimitExceededError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import Run, Runs
from lakehold.workspaces.graph import edge_sources, edge_targets, need_kind
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import (
    DatasetPlan,
    DesignState,
    TableChange,
    design_state,
    list_datasets,
    missing_dataset,
)
from lakehold.workspaces.spaces.pipelines import PREPARE, RECREATE
from lakehold.workspaces.spaces.settings import KIND_OF_EDGE, TASK, TASK_KIND
from lakehold.workspaces.spaces.tasks import TaskSettings
from lakehold.workspaces.spaces.tasks.base import DatasetReference
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings, StarDimension, StarFact
from lakehold.workspaces.spaces.tasks.replication import ReplicatedTable, ReplicationSettings
from lakehold.workspaces.spaces.tasks.storage import StorageDataset, StorageSettings
from lakehold.workspaces.upkeep import TASK_PARAMETER

PREPARE_PROBE, STEPS_PROBE = "spaces.prepare", "spaces.steps"
_RUNS = Runs(workspaces.runnables())


@dataclass(frozen=True, slots=True)
class TaskProblem:
    """Something that keeps a task from being prepared or run."""

    message: str
    hint: str = ""
    field: str = ""
    """The path of the setting that it is about, such as `datasets.0.steps.2.columns`; empty if it is none."""


@dataclass(frozen=True, slots=True)
class TaskValidation:
    """The result of validating a task."""

    state: DesignState
    problems: tuple[TaskProblem, ...] = ()
    datasets: tuple[DatasetPlan, ...] = ()
    """What prepare would do to each dataset; empty if something is wrong."""

    @property
    def loses_values(self) -> bool:
        """Whether it can be prepared only if recreating is allowed."""
        return any(plan.loses_values for plan in self.datasets)


def need_validate(ctx: RequestContext, task: str) -> None:
    """Refuse unless the caller may validate a task."""
    readable_tables.refuse_impersonation(ctx)
    need_kind(ctx, task, "validate", (TASK_KIND,))


def validate_task(
    platform: Platform, caller: Caller, task: str, problems: list[TaskProblem], state: DesignState
) -> TaskValidation:
    """Return the result for a task in which `find_problems` has found these; without any, a worker goes on."""
    if problems:
        return TaskValidation(state, tuple(problems))
    try:
        found = worker_client.probe(platform, caller, PREPARE_PROBE, {"task": task})
    except (worker_client.NoWorkerError, LimitExceededError, DeniedError, HiddenError):
        raise
    except LakeholdError as error:
        return TaskValidation(state, (TaskProblem(error.message, error.hint, error.field),))
    return TaskValidation(state, datasets=tuple(map(_parse_plan, found["datasets"])))


def start_prepare(ctx: RequestContext, task: str, *, recreate: bool = False) -> Run:
    """Start the run that prepares a task."""
    need_kind(ctx, task, "list", (TASK_KIND,))
    return _RUNS.start(ctx, task, RunOptions(parameters={TASK_PARAMETER: PREPARE, RECREATE: recreate}))


def need_preview(ctx: RequestContext, task: str) -> Caller:
    """Return the caller if they may preview a dataset of a transform task that they design."""
    need_validate(ctx, task)
    ctx.need("update", task)
    return ctx.caller


def preview(platform: Platform, caller: Caller, asked: Mapping[str, Any], uid: str = "") -> dict[str, Any]:
    """Return the query, the columns and the first rows of a dataset of a transform.

    Rows that are shown are audited, with the datasets that they are from.
    """
    found = worker_client.probe(platform, caller, STEPS_PROBE, asked, uid=uid)
    reads = found.pop("reads", ())
    if found["rows"] is not None:
        platform.record_read(caller, "preview", str(asked["task"]), tables=reads, rows=len(found["rows"]))
    return found


def _parse_plan(found: Mapping[str, Any]) -> DatasetPlan:
    columns = tuple((str(name), str(kind)) for name, kind in found["columns"])
    return DatasetPlan(found["name"], TableChange(found["change"]), columns, tuple(found["details"]))


def find_problems(ctx: RequestContext, task: str) -> tuple[list[TaskProblem], DesignState]:
    """Return what is wrong with a task as far as no worker is needed, and the state of its design."""
    stored = resource_metadata.load(ctx, task).settings
    state = design_state(stored)
    if TASK.is_draft(stored):
        return [TaskProblem("The task has no settings.", "Edit it, and complete them.")], state
    if wrong := TASK.problems(stored):
        return [TaskProblem(each.message, each.hint, each.field) for each in wrong], state
    settings = TASK.parse(stored)
    missing = owner_context.missing_roles(ctx, task)
    return [
        *(TaskProblem(each.text, each.hint) for each in missing),
        *_lost_ends(ctx, task, settings),
        *_missing_inputs(ctx, settings),
        *_other_writers(ctx, task, settings),
    ], state


def _lost_ends(ctx: RequestContext, task: str, settings: TaskSettings) -> Iterator[TaskProblem]:
    """Yield a problem for each setting that names what was deleted."""
    for field, uid, edge in settings.uses():
        if uid not in edge_targets(ctx, task, edge):
            noun = ctx.view.policy.kind(KIND_OF_EDGE[edge]).schema.title.lower()
            yield TaskProblem(f"A {noun} that the task uses is gone.", "Edit the task, and choose another one.", field)


def _missing_inputs(ctx: RequestContext, settings: TaskSettings) -> Iterator[TaskProblem]:
    """Yield a problem for each dataset that is read, and that its task does not have."""
    visible, known = VisibleRefs(ctx), dict[str, Mapping[str, str]]()
    for field, reference in _references(settings):
        if ctx.session.read_view(lambda view, uid=reference.task: view.ids.get(uid)) is None:  # type: ignore[misc]
            continue
        there = known.setdefault(reference.task, list_datasets(ctx, reference.task))
        if fold_name(reference.dataset) not in there:
            error = missing_dataset(visible, reference)
            yield TaskProblem(error.message, error.hint, field)


def _references(settings: TaskSettings) -> Iterator[tuple[str, DatasetReference]]:
    """Yield the datasets that a task reads, each with the path of its setting."""
    parts: Mapping[str, Sequence[StorageDataset | ReplicatedTable | StarDimension | StarFact]] = {}
    match settings:
        case StorageSettings():
            parts = {"datasets": settings.datasets}
        case ReplicationSettings():
            parts = {"tables": settings.tables}
        case DataMartTaskSettings():
            parts = {"dimensions": settings.dimensions, "facts": settings.facts}
    for name, items in parts.items():
        for n, each in enumerate(items):
            yield f"{name}.{n}.source", each.source


def _other_writers(ctx: RequestContext, task: str, settings: TaskSettings) -> Iterator[TaskProblem]:
    """Yield a problem for each table of a target that another task sends rows to as well."""
    if not isinstance(settings, ReplicationSettings):
        return
    visible, others = VisibleRefs(ctx), dict[tuple[str, str], str]()
    for other in edge_sources(ctx, settings.connection, "targets"):
        stored = resource_metadata.load(ctx, other).settings
        if other == task or TASK.is_draft(stored) or TASK.problems(stored):
            continue
        found = TASK.parse(stored)
        if isinstance(found, ReplicationSettings) and found.connection == settings.connection:
            others |= {(each.schema.casefold(), each.table.casefold()): other for each in found.tables}
    for n, each in enumerate(settings.tables):
        other = others.get((each.schema.casefold(), each.table.casefold()), "")
        if other:
            ref = visible.ref(other)
            who = f"The task {quote(ref.name)}" if ref else "A task that you do not see"
            message = f"{who} writes the table {quote(each.table)} of this connection too."
            yield TaskProblem(message, "Send the dataset to another table.", f"tables.{n}.table")
