"""The kinds of a data space that are run: tasks, single datasets of them, and projects. `executors` executes steps.

Runs need no rights of an author: they are executed in the context of the project's owner (`owner_context`), and to
change a task needs no right to data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import DefinitionPart, Runnable, RunOptions, Step, refuse_backfill
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import list_datasets
from lakehold.workspaces.spaces.settings import DATASET_KIND, PROJECT_KIND, TASK, TASK_KIND
from lakehold.workspaces.spaces.steps import PrepareTask, TaskStep
from lakehold.workspaces.spaces.task_planner import (
    TaskPlanner,
    project_tasks,
    steps_of_dataset,
    task_levels,
    with_stage,
)
from lakehold.workspaces.spaces.tasks.landing import LandingSettings
from lakehold.workspaces.upkeep import TASK_PARAMETER, MaintainTable, is_upkeep, upkeep_steps

PREPARE, RECREATE = "prepare", "recreate"
"""The options to prepare a task instead of running it, and to lose rows where that is needed."""


class _SpacePipeline(Runnable):
    """A resource of a data space that is run."""

    needs_authors = False
    private_errors = True

    def start_action(self, options: RunOptions) -> str:
        """Return the action that is needed to run or reload it."""
        return "reload" if options.reload else self.trigger

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return nothing: the owner of the project takes the place of the author."""
        del uid, step
        return ()

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step if the caller may no longer run its task, or the project's owner has lost a role."""
        del uid
        if isinstance(step, TaskStep):
            owner_context.need(ctx, "prepare" if isinstance(step, PrepareTask) else "run", step.task)
            _refuse_other_owner(ctx, step)
            # What the step reads by the plan that was frozen, whatever its task names by now.
            owner_context.need_supplied(ctx, step.task, step.reads)

    def run_details(self, ctx: RequestContext, uid: str) -> Mapping[str, object]:
        """Return the owner of the project, in whose context it runs."""
        return {"as": owner_context.owner_of(ctx, self._project(ctx, uid))}

    def _project(self, ctx: RequestContext, uid: str) -> str:
        here = uid
        while ctx.view.kind(ctx.view.resource(here)) != PROJECT_KIND:
            here = kinds.parent_of(ctx.view, here) or here
        return here


def _refuse_other_owner(ctx: RequestContext, step: TaskStep) -> None:
    """Refuse a step that was planned in the context of somebody who owned the project then."""
    project = owner_context.project_of(ctx, step.task)
    if owner_context.owner_of(ctx, project) != step.owner:
        raise ConflictError(
            f"The owner of the {describe_resource(ctx.view, project)} was changed after the run had begun.",
            "Start a new run.",
        )


class TaskPipeline(_SpacePipeline):
    """Runs, reloads or prepares a task."""

    kind = TASK_KIND
    trigger, schedule, stop, see = "run", "run", "stop", "open"
    choices: Mapping[str, Sequence[str]] = MappingProxyType({})

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return its datasets."""
        return list(list_datasets(ctx, uid).values())

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the task with its datasets."""
        del options
        return [uid, *self.outputs(ctx, uid)]

    def start_action(self, options: RunOptions) -> str:
        """Return the action that is needed: to prepare, reload or run."""
        return "prepare" if options.parameters.get(TASK_PARAMETER) == PREPARE else super().start_action(options)

    def need_start(self, ctx: RequestContext, uid: str, options: RunOptions) -> None:
        """Refuse unless the caller and the project's owner may."""
        owner_context.need(ctx, self.start_action(options), uid)

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return a step for each dataset, or the one that prepares them."""
        refuse_backfill(options, "data task")
        self.need_start(ctx, uid, options)
        if options.parameters.get(TASK_PARAMETER) == PREPARE:
            return [prepare_step(ctx, uid, recreate=bool(options.parameters.get(RECREATE)))]
        return TaskPlanner(ctx, uid, options).steps()

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the right to see its data, and to edit its connections."""
        ends = [*edge_targets(ctx, uid, "sources"), *edge_targets(ctx, uid, "targets")]
        return [RequiredRight("view_data", uid), *(RequiredRight("edit", end) for end in ends)]


def prepare_step(ctx: RequestContext, uid: str, *, recreate: bool) -> PrepareTask:
    """Return the step that prepares a task: it asks connections and tasks for their columns."""
    owner = owner_context.owner_of(ctx, owner_context.project_of(ctx, uid))
    stored = resource_metadata.load(ctx, uid).settings
    reads = tuple(used for _, used, _ in TASK.parse(stored).uses())
    return PrepareTask(name="prepare", reads=reads, task=uid, owner=owner, settings=stored, recreate=recreate)


class DatasetPipeline(_SpacePipeline):
    """Runs the part of a task that fills one dataset; or keeps its table up, which changes no row."""

    kind = DATASET_KIND
    trigger, schedule, stop, see = "run", "run", "stop", "open"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the dataset."""
        del ctx
        return [uid]

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the dataset; with its task and all others of that, if they share the changes that they read."""
        if is_upkeep(options) or not captures_changes(ctx, task := owner_context.task_of(ctx, uid)):
            return [uid]
        return [task, *list_datasets(ctx, task).values()]

    def need_start(self, ctx: RequestContext, uid: str, options: RunOptions) -> None:
        """Refuse unless the caller and the project's owner may."""
        owner_context.need(ctx, self.start_action(options), owner_context.task_of(ctx, uid))

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps of the task that fill the dataset."""
        refuse_backfill(options, "dataset")
        if is_upkeep(options):
            if ctx.caller.member:
                ctx.need(self.trigger, uid)
            return upkeep_steps(uid)
        self.need_start(ctx, uid, options)
        found = steps_of_dataset(TaskPlanner(ctx, owner_context.task_of(ctx, uid), options).steps(), uid)
        if not found:
            raise ConflictError("The task makes this dataset no more.", "Prepare the task.")
        return found

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step if the task may no longer be run; upkeep needs no right."""
        if not isinstance(step, MaintainTable):
            super().need_step(ctx, uid, step)

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return those of its task."""
        return TaskPipeline().private_rights(ctx, owner_context.task_of(ctx, uid))


def captures_changes(ctx: RequestContext, task: str) -> bool:
    """Return whether a task lands changes that a database has logged."""
    stored = resource_metadata.load(ctx, task).settings
    if TASK.is_draft(stored) or TASK.problems(stored):
        return False
    settings = TASK.parse(stored)
    return isinstance(settings, LandingSettings) and bool(settings.captured())


class ProjectPipeline(_SpacePipeline):
    """Runs or prepares all tasks of a project in the order of their graph, at the same time where it allows that."""

    kind = PROJECT_KIND
    trigger, schedule, stop, see = "operate", "operate", "operate", "open"

    def start_action(self, options: RunOptions) -> str:
        """Return the one action that there is; those of the tasks are needed too."""
        del options
        return self.trigger

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the datasets of its tasks."""
        return [each for task in project_tasks(ctx, uid) for each in list_datasets(ctx, task).values()]

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the project, its tasks and their datasets."""
        del options
        return [uid, *project_tasks(ctx, uid), *self.outputs(ctx, uid)]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps of all tasks, level by level."""
        refuse_backfill(options, "data project")
        ctx.need(self.trigger, uid)
        tasks = project_tasks(ctx, uid)
        if not tasks:
            raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no tasks.", "Create one first.")
        found: list[Step] = []
        for level, names in enumerate(task_levels(ctx, tasks)):
            some: list[TaskStep] = []
            for task in names:
                some += with_stage(self._steps_of(ctx, task, options), level)
            found += sorted(some, key=lambda step: step.stage or 0)
        return found

    @staticmethod
    def _steps_of(ctx: RequestContext, task: str, options: RunOptions) -> Sequence[TaskStep]:
        if options.parameters.get(TASK_PARAMETER) == PREPARE:
            owner_context.need(ctx, "prepare", task)
            step = prepare_step(ctx, task, recreate=bool(options.parameters.get(RECREATE)))
            return [replace(step, name=f"{ctx.view.names.get(ctx.view.resource(task)) or task}.prepare")]
        owner_context.need(ctx, "reload" if options.reload else "run", task)
        return TaskPlanner(ctx, task, options).steps()

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return those of all its tasks."""
        pipeline = TaskPipeline()
        return [right for task in project_tasks(ctx, uid) for right in pipeline.private_rights(ctx, task)]


RUNNABLES: tuple[Runnable, ...] = (TaskPipeline(), DatasetPipeline(), ProjectPipeline())
