"""Registers tables as datasets: says beforehand what prepare would register, does it, and checks it when it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehold.access import Draft
from lakehold.catalog import resource_metadata
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name
from lakehold.lake import table_views
from lakehold.lake.spark.table_writer import column_type
from lakehold.runs.step_context import StepResult
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import registrations
from lakehold.workspaces.spaces.datasets import COLUMNS, DatasetPlan, TableChange, compare_columns, list_datasets
from lakehold.workspaces.spaces.executors.input_rows import load_schema
from lakehold.workspaces.spaces.settings import DATASET_KIND, TASK
from lakehold.workspaces.spaces.tasks.register import (
    TASK_EDGES,
    RegisteredDataset,
    RegisteredSource,
    RegisterSettings,
)

if TYPE_CHECKING:
    from lakehold.directory.request_context import RequestContext
    from lakehold.lake.spark.tables import Tables
    from lakehold.runs.step_context import StepContext
    from lakehold.workspaces.spaces.steps import CheckRegistration

Columns = Sequence[tuple[str, str]]


def registered_datasets(stored: Mapping[str, object]) -> Mapping[str, RegisteredDataset]:
    """Return the datasets that settings register, by folded name; none of another type of task."""
    settings = TASK.parse(stored)
    registered = settings.datasets if isinstance(settings, RegisterSettings) else ()
    return {fold_name(each.name): each for each in registered}


def source_columns(ctx: RequestContext, tables: Tables, source: str) -> Columns:
    """Return the columns of a table that can be registered, as its readers see them; none if it has no rows yet."""
    schema = load_schema(tables, table_views.view_of(ctx, source))
    return [(each.name, column_type(each)) for each in schema.fields] if schema else []


def need_source(ctx: RequestContext, task: str, source: RegisteredSource) -> None:
    """Refuse a source to which the task has no edge, along which the right of the one who named it was asked for."""
    if source.uid not in edge_targets(ctx, task, TASK_EDGES[source.edge]):
        raise ConflictError("What the task registers is gone, or was never saved.", "Edit it, and choose another one.")


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered dataset as it was prepared."""

    source: str
    """The table that it shows; empty if that was deleted."""
    columns: Columns
    """Those that the source had."""


def load_registration(ctx: RequestContext, dataset: str) -> Registration | None:
    """Return what a dataset was registered as; None if it has rows of its own."""
    stored = resource_metadata.load(ctx, dataset).settings.get(COLUMNS)
    if not isinstance(stored, list):
        return None
    columns = [(str(name), str(kind)) for name, kind in stored]
    return Registration(registrations.source_of(ctx, dataset), columns)


def plan_registration(
    item: RegisteredDataset, columns: Sequence[tuple[str, str]], before: Registration | None, *, has_rows: bool
) -> DatasetPlan:
    """Return what prepare would register. A dataset that has rows of its own would lose them."""
    found = tuple(columns)
    if has_rows:
        details = ("Its own rows are dropped, and it shows those of its source.",)
        return DatasetPlan(item.name, TableChange.RECREATE, found, details)
    if before is None or before.source != item.source.uid:
        return DatasetPlan(item.name, TableChange.REGISTER, found)
    lossy, gentle = compare_columns(before.columns, found)
    return DatasetPlan(
        item.name, TableChange.REGISTER if lossy or gentle else TableChange.NONE, found, (*lossy, *gentle)
    )


def place_dataset(ctx: RequestContext, task: str, name: str, item: RegisteredDataset | None) -> str:
    """Return the dataset of this name with this source, or with rows of its own.

    One whose source becomes another is made anew: nothing that was said of the former rows is said of these.
    """
    uid = list_datasets(ctx, task).get(fold_name(name))
    source = item.source.uid if item else ""
    if uid is not None and registrations.source_of(ctx, uid) == source:
        return uid
    if uid is not None:
        ctx.delete_unchecked(uid)
    edges = {"task": task} | ({item.source.edge: source} if item else {})
    created = ctx.create_unchecked(Draft(DATASET_KIND, edges), name)
    resource_metadata.create(ctx, created)
    return created


def record_columns(ctx: RequestContext, dataset: str, columns: Sequence[tuple[str, str]]) -> None:
    """Record the columns that the source of a dataset has, so that it is seen when they change."""
    resource_metadata.save_managed(ctx, dataset, {COLUMNS: [list(each) for each in columns]})


def check_registration(step: CheckRegistration, step_ctx: StepContext) -> StepResult:
    """Check that a dataset shows its source, with all columns that it had when it was prepared. No row is read."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        source = registrations.source_table(ctx, step.dataset)
        found = load_registration(ctx, step.dataset)
        if source == step.dataset or found is None:
            message = f"{step.item['name']}: the table that it shows was deleted."
            raise ConflictError(message, "Edit the task, and choose another one.")
        columns = source_columns(ctx, step_ctx.tables, source)
    lossy, gentle = compare_columns(found.columns, columns)
    if lossy:
        raise ConflictError(
            f"{step.item['name']}: columns of its source have changed. {' '.join(lossy)}",
            "Prepare the task again, and change the tasks that read it.",
            code="columns_changed",
        )
    for text in gentle:
        step_ctx.log(f"{step.item['name']}: {text}")
    return StepResult()
