"""Datasets of tasks: the tables that they make, as resources; what was prepared of them, and what prepare would change.

*Prepare* makes a dataset a resource with an empty table. Its place in the lake follows from the resource, and stays
when task or dataset are renamed. A task is ready to run while its settings are those that were prepared.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote
from lakehold.workspaces.spaces.settings import DATASET_KIND, TASK
from lakehold.workspaces.spaces.tasks.base import DatasetReference

PREPARED = "prepared"
"""The managed setting of a task: what was prepared."""
COLUMNS = "columns"
"""The managed setting of a registered dataset: the columns of its source when it was prepared."""
_NOT_PREPARED = frozenset({PREPARED, "notify", "failure_webhook"})


class DesignState(StrEnum):
    """The state of a task's design."""

    NEW = "new"
    """Its settings are missing, or cannot be used."""
    READY_TO_PREPARE = "ready to prepare"
    """Its settings were never prepared, or have been changed since."""
    READY_TO_RUN = "ready to run"


class TableChange(StrEnum):
    """The change that prepare makes to the table of a dataset."""

    NONE = "none"
    CREATE = "create"
    ALTER = "alter"
    """Columns are added or widened; no value is lost."""
    RECREATE = "recreate"
    """It would lose values, and so is made anew, empty: only where that is allowed."""
    DROP = "drop"
    """The task makes it no more; its rows go: only where that is allowed."""
    REGISTER = "register"
    """It shows the rows of a table that exists; nothing is copied."""
    UNREGISTER = "unregister"
    """The task registers it no more; its source stays as it is."""
    LATER = "later"
    """Its columns are known after the first run, which creates it."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The plan of prepare for one dataset."""

    name: str
    change: TableChange
    columns: tuple[tuple[str, str], ...] = ()
    """Names and types, as they will be."""
    details: tuple[str, ...] = field(default=())
    """Each column that changes, as a sentence."""

    @property
    def loses_values(self) -> bool:
        """Whether it is done only where recreating is allowed."""
        return self.change in {TableChange.RECREATE, TableChange.DROP}


def list_datasets(ctx: RequestContext, task: str) -> dict[str, str]:
    """Return the ids of a task's datasets by name."""
    return ctx.session.read_view(
        lambda view: {
            fold_name(view.names.get(child) or ""): view.uid(child)
            for child in view.children(view.resource(task))
            if view.kind(child) == DATASET_KIND
        }
    )


def need_dataset(ctx: RequestContext, reference: DatasetReference) -> str:
    """Return the id of a dataset that another task reads, or refuse."""
    found = list_datasets(ctx, reference.task).get(fold_name(reference.dataset))
    if found is None:
        raise missing_dataset(VisibleRefs(ctx), reference)
    return found


def missing_dataset(visible: VisibleRefs, reference: DatasetReference) -> ConflictError:
    """Return the error that a task has no such dataset; it names no task that the caller does not see."""
    ref = visible.ref(reference.task)
    task = f"The task {quote(ref.name)}" if ref else "A task that you do not see"
    message = f"{task} has no dataset {quote(reference.dataset)}."
    return ConflictError(message, "Prepare that task, or choose another dataset.")


def fingerprint(settings: Mapping[str, object]) -> str:
    """Return a digest of what a task does, without who is notified of it."""
    own = {name: value for name, value in settings.items() if name not in _NOT_PREPARED}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def design_state(settings: Mapping[str, object]) -> DesignState:
    """Return how far the design of a task with these settings is."""
    if TASK.is_draft(settings) or TASK.problems(settings):
        return DesignState.NEW
    prepared = settings.get(PREPARED)
    same = isinstance(prepared, Mapping) and prepared.get("fingerprint") == fingerprint(settings)
    return DesignState.READY_TO_RUN if same else DesignState.READY_TO_PREPARE


def need_ready(ctx: RequestContext, task: str) -> Mapping[str, object]:
    """Return the settings of a task that is ready to run, or refuse."""
    stored = resource_metadata.load(ctx, task).settings
    state = design_state(stored)
    if state is not DesignState.READY_TO_RUN:
        subject = f"The {describe_resource(ctx.view, task)} is {state}."
        hint = "Prepare it first." if state is DesignState.READY_TO_PREPARE else "Complete its settings first."
        raise ConflictError(subject, hint, code="not_prepared")
    return stored


_WIDER = {
    ("tinyint", "int"),
    ("smallint", "int"),
    ("tinyint", "bigint"),
    ("smallint", "bigint"),
    ("int", "bigint"),
    ("float", "double"),
}


def plan_table(
    name: str, before: Sequence[tuple[str, str]] | None, after: Sequence[tuple[str, str]] | None
) -> DatasetPlan:
    """Compare the columns of a table, if there is one, with those that it is to have, if they are known."""
    if after is None:
        return DatasetPlan(name, TableChange.LATER if before is None else TableChange.NONE, tuple(before or ()))
    columns = tuple(after)
    if before is None:
        return DatasetPlan(name, TableChange.CREATE, columns)
    lossy, gentle = compare_columns(before, after)
    if lossy:
        return DatasetPlan(name, TableChange.RECREATE, columns, (*lossy, *gentle))
    return DatasetPlan(name, TableChange.ALTER if gentle else TableChange.NONE, columns, tuple(gentle))


def compare_columns(before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Return the changes that lose values, and those that do not, as sentences."""
    old = {fold_name(name): (name, kind) for name, kind in before}
    new = {fold_name(name): (name, kind) for name, kind in after}
    lossy = [f"{name} is dropped." for key, (name, _) in old.items() if key not in new]
    gentle = [f"{name} ({kind}) is added." for key, (name, kind) in new.items() if key not in old]
    for key, (name, kind) in new.items():
        was = old.get(key, (name, kind))[1]
        if _stored(was) != _stored(kind):
            widened = (was, kind) in _WIDER
            (gentle if widened else lossy).append(f"{name} becomes {kind}; it is {was}.")
    return lossy, gentle


def _stored(kind: str) -> str:
    """Return a type as Iceberg stores it."""
    return "int" if kind in {"tinyint", "smallint"} else kind
