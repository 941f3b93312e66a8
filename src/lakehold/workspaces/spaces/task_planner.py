"""Plans the steps of tasks: which dataset each fills, from what, and in which order the tasks of a project run."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote
from lakehold.lake import readable_tables
from lakehold.runs.runnable import RunOptions
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import list_datasets, need_dataset, need_ready
from lakehold.workspaces.spaces.settings import CONNECTION, TASK, TASK_KIND
from lakehold.workspaces.spaces.steps import (
    CaptureChanges,
    CheckRegistration,
    DatasetStep,
    LandDataset,
    LoadStar,
    ReplicateDataset,
    RunTransform,
    StoreDataset,
    TaskStep,
)
from lakehold.workspaces.spaces.tasks import TaskSettings
from lakehold.workspaces.spaces.tasks.base import DatasetReference
from lakehold.workspaces.spaces.tasks.data_mart import DataMartTaskSettings, planned_datasets
from lakehold.workspaces.spaces.tasks.landing import LandingSettings
from lakehold.workspaces.spaces.tasks.register import TASK_EDGES, RegisterSettings
from lakehold.workspaces.spaces.tasks.replication import ReplicationSettings
from lakehold.workspaces.spaces.tasks.storage import StorageSettings
from lakehold.workspaces.spaces.tasks.transform import TransformSettings

_STAR_STAGES = {"dimension": 0, "fact": 1, "view": 2}


class TaskPlanner:
    """Plans the steps of one task that is ready to run."""

    def __init__(self, ctx: RequestContext, task: str, options: RunOptions) -> None:
        self._ctx, self._task, self._options = ctx, task, options
        self._stored = need_ready(ctx, task)
        self._project = owner_context.project_of(ctx, task)
        self._owner = owner_context.owner_of(ctx, self._project)
        self._datasets = list_datasets(ctx, task)

    def steps(self) -> list[TaskStep]:
        """Return its steps, those of one stage next to each other."""
        settings = TASK.parse(self._stored)
        return list(_PLANS[type(settings)](self, settings))

    def land(self, settings: LandingSettings) -> Iterator[TaskStep]:
        """Yield a step for each stream that is queried, and one for all whose changes are captured."""
        connection, stored = self._connection(settings.connection, "sources")
        captured = {item.name: self._dataset(item.name, {})["dataset"] for item in settings.captured()}
        if captured:
            yield CaptureChanges(
                **self._common("changes"),
                reads=(connection,),
                writes=tuple(captured.values()),
                settings=self._stored,
                connection=connection,
                connection_settings=stored,
                datasets=captured,
                reload=tuple(captured) if self._options.reload else (),
            )
        for item in settings.datasets:
            if item.name in captured:
                continue
            yield LandDataset(
                **self._common(item.name),
                **self._dataset(item.name, asdict(item)),
                reads=(connection,),
                connection=connection,
                connection_settings=stored,
            )

    def check(self, settings: RegisterSettings) -> Iterator[TaskStep]:
        """Yield a step for each dataset: there is nothing to load."""
        for item in settings.datasets:
            self._need_edge(TASK_EDGES[item.source.edge], item.source.uid)
            yield CheckRegistration(
                **self._common(item.name), **self._dataset(item.name, asdict(item)), reads=(item.source.uid,)
            )

    def store(self, settings: StorageSettings) -> Iterator[TaskStep]:
        """Yield a step for each dataset."""
        for item in settings.datasets:
            source = self._input(item.source)
            yield StoreDataset(
                **self._common(item.name),
                **self._dataset(item.name, asdict(item)),
                reads=(source,),
                source=source,
            )

    def transform(self, settings: TransformSettings) -> Iterator[TaskStep]:
        """Yield a step for each dataset."""
        for task in settings.reads:
            self._need_edge("reads", task)
        inputs = input_datasets(self._ctx, settings.reads)
        for item in settings.datasets:
            yield RunTransform(
                **self._common(item.name),
                **self._dataset(item.name, asdict(item)),
                reads=inputs,
                place=readable_tables.name_path(self._ctx.view, self._project),
                inputs=inputs,
            )

    def load_star(self, settings: DataMartTaskSettings) -> Iterator[TaskStep]:
        """Yield a step for each dimension, then for each fact, then for each view."""
        sources = settings.sources()
        for planned in planned_datasets(settings):
            reference = sources.get(planned.name)
            source = self._input(reference) if reference else ""
            yield LoadStar(
                **{**self._common(planned.name), "stage": _STAR_STAGES[planned.role]},
                **self._dataset(planned.name, {"name": planned.name}),
                reads=(source,) if source else (),
                role=planned.role,
                source=source,
                members={each: self._datasets[fold_name(each)] for each in settings.dataset_names()},
            )

    def replicate(self, settings: ReplicationSettings) -> Iterator[TaskStep]:
        """Yield a step for each table."""
        connection, stored = self._connection(settings.connection, "targets")
        for item in settings.tables:
            source = self._input(item.source)
            yield ReplicateDataset(
                **self._common(item.table),
                reads=(source, connection),
                source=source,
                item=asdict(item),
                connection=connection,
                connection_settings=stored,
                reload=self._options.reload,
            )

    def _common(self, name: str) -> dict[str, Any]:
        label = self._ctx.view.names.get(self._ctx.view.resource(self._task)) or self._task
        return {"name": f"{label}.{name}", "task": self._task, "owner": self._owner, "stage": 0}

    def _dataset(self, name: str, item: Mapping[str, object]) -> dict[str, Any]:
        uid = self._datasets.get(fold_name(name))
        if uid is None:
            task = describe_resource(self._ctx.view, self._task)
            raise ConflictError(f"The {task} has no dataset {quote(name)}.", "Prepare it again.")
        return {
            "dataset": uid,
            "writes": (uid,),
            "settings": self._stored,
            "item": item,
            "reload": self._options.reload,
        }

    def _connection(self, uid: str, edge: str) -> tuple[str, Mapping[str, object]]:
        self._need_edge(edge, uid)
        stored = resource_metadata.load(self._ctx, uid).settings
        CONNECTION.parse(stored)
        return uid, stored

    def _input(self, reference: DatasetReference) -> str:
        self._need_edge("reads", reference.task)
        return need_dataset(self._ctx, reference)

    def _need_edge(self, edge: str, uid: str) -> None:
        """Refuse what no edge leads to: the owner's roles were asked for along the edges."""
        if uid not in edge_targets(self._ctx, self._task, edge):
            task = describe_resource(self._ctx.view, self._task)
            raise ConflictError(f"What the {task} uses is gone, or was never saved.", "Edit it and save it again.")


_PLANS: Mapping[type[TaskSettings], Callable[..., Iterator[TaskStep]]] = {
    LandingSettings: TaskPlanner.land,
    RegisterSettings: TaskPlanner.check,
    StorageSettings: TaskPlanner.store,
    TransformSettings: TaskPlanner.transform,
    DataMartTaskSettings: TaskPlanner.load_star,
    ReplicationSettings: TaskPlanner.replicate,
}


def input_datasets(ctx: RequestContext, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return all datasets of some tasks."""
    return tuple(uid for task in tasks for uid in list_datasets(ctx, task).values())


def project_tasks(ctx: RequestContext, project: str) -> list[str]:
    """Return the tasks of a project."""
    return ctx.session.read_view(
        lambda view: [
            view.uid(child) for child in view.children(view.resource(project)) if view.kind(child) == TASK_KIND
        ]
    )


def task_levels(ctx: RequestContext, tasks: Collection[str]) -> list[list[str]]:
    """Return tasks in the order of their graph: each reads only those of levels before its own."""
    sorter = TopologicalSorter({task: set(edge_targets(ctx, task, "reads")) & set(tasks) for task in sorted(tasks)})
    try:
        sorter.prepare()
    except CycleError as error:
        names = " → ".join(describe_resource(ctx.view, each) for each in error.args[1])
        raise ConflictError(
            f"These tasks read each other in a circle: {names}.", "Let one of them read less."
        ) from None
    levels: list[list[str]] = []
    while sorter.is_active():
        ready = sorter.get_ready()
        levels.append(list(ready))
        sorter.done(*ready)
    return levels


def with_stage(steps: Sequence[TaskStep], level: int) -> list[TaskStep]:
    """Return the steps of a task in the stages of a level of its project."""
    return [replace(step, stage=level * _STAGES + (step.stage or 0)) for step in steps]


_STAGES = 10
"""The most stages that a task has."""


def steps_of_dataset(steps: Sequence[TaskStep], dataset: str) -> list[TaskStep]:
    """Return the steps of a task that fill one dataset; one that captures changes brings up all that share its slot."""
    found: list[TaskStep] = [step for step in steps if isinstance(step, DatasetStep) and step.dataset == dataset]
    for step in steps:
        if isinstance(step, CaptureChanges) and dataset in step.writes:
            mine = tuple(name for name in step.reload if step.datasets[name] == dataset)
            found.append(replace(step, reload=mine))
    return found
