"""The graph of a project's tasks: what each reads, the state of its design, and what became of it the last time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.runs import run_table as states
from lakehold.runs.service import Run, Runs, StepState
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces.datasets import DesignState, design_state
from lakehold.workspaces.spaces.settings import TASK_KIND
from lakehold.workspaces.spaces.tasks import RECORDS

MAX_TASKS = 500
_ORDER = (states.FAILED, states.RUNNING, states.STOPPED)
"""Of several steps, the first of these states is that of their task."""


@dataclass(frozen=True, slots=True)
class TaskActivity:
    """The last run of a task, or its part in a run of the project."""

    run: str
    state: str
    at: int
    rows: int | None = None
    """None if the run was not asked for its steps."""
    done: int = 0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class TaskNode:
    """A task of the graph."""

    uid: str
    name: str
    type: str
    """Empty if its settings are missing."""
    state: DesignState
    description: str = ""
    activity: TaskActivity | None = None

    @property
    def label(self) -> str:
        """The name of its type."""
        return RECORDS[self.type].label if self.type in RECORDS else "Data task"

    @property
    def icon(self) -> str:
        """The icon of its type."""
        return RECORDS[self.type].icon if self.type in RECORDS else "workflow"


@dataclass(frozen=True, slots=True)
class ProjectGraph:
    """The tasks of a project that somebody sees, by name, and which of them reads which."""

    nodes: Sequence[TaskNode]
    links: Sequence[tuple[str, str]]
    """From the task that is read; also tasks of other projects."""
    more: bool = False
    """Whether the project has tasks beyond the most that are drawn."""
    run: Run | None = None
    """The last run of the project."""

    @property
    def is_running(self) -> bool:
        """Whether the project runs, or any of its tasks."""
        mine = [each.activity.state for each in self.nodes if each.activity]
        return any(state in states.OPEN for state in (*mine, *([self.run.state] if self.run else ())))


def load_graph(ctx: RequestContext, project: str, runs: Runs | None) -> ProjectGraph:
    """Return the graph of a project as the caller sees it; without runs, nothing of those."""
    found = ctx.session.list(ctx.principal, "list", TASK_KIND, within=project, limit=MAX_TASKS)
    stored = resource_metadata.load_many(ctx, [each.id for each in found.items])
    blank = resource_metadata.ResourceMetadata()
    nodes = []
    for each in found.items:
        detail = stored.get(each.id, blank)
        state, kind = design_state(detail.settings), str(detail.settings.get("type", ""))
        nodes.append(TaskNode(each.uid, each.name, kind, state, detail.description))
    links = [(end, node.uid) for node in nodes for end in edge_targets(ctx, node.uid, "reads")]
    graph = ProjectGraph(nodes, links, found.after is not None)
    return graph if runs is None else _with_runs(ctx, project, graph, runs)


def _with_runs(ctx: RequestContext, project: str, graph: ProjectGraph, runs: Runs) -> ProjectGraph:
    last = runs.last_runs(ctx, [project, *(node.uid for node in graph.nodes)])
    mine = last.get(project)
    # Only the run of the project has to be asked for its steps: a task's own run is on its page.
    whole = runs.get(ctx, mine.id) if mine else None
    parts = _steps_by_task(whole, frozenset(node.name for node in graph.nodes)) if whole else {}
    nodes = [replace(node, activity=_activity(node, last.get(node.uid), whole, parts)) for node in graph.nodes]
    return replace(graph, nodes=nodes, run=whole)


def _steps_by_task(run: Run, names: frozenset[str]) -> Mapping[str, list[StepState]]:
    """Return the steps of a project's run by the names of its tasks: they are named `task.dataset`."""
    found: dict[str, list[StepState]] = {}
    for step in run.steps:
        parts = step.name.split(".")
        prefixes = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
        if task := next((each for each in prefixes if each in names), ""):
            found.setdefault(task, []).append(step)
    return found


def _activity(
    node: TaskNode, own: Run | None, whole: Run | None, parts: Mapping[str, Sequence[StepState]]
) -> TaskActivity | None:
    steps = parts.get(node.name, ())
    if whole and steps and (own is None or own.made_at < whole.made_at):
        done = sum(step.state == states.SUCCEEDED for step in steps)
        rows = sum(step.rows for step in steps)
        return TaskActivity(whole.id, _state_of(steps, whole), whole.made_at, rows, done, len(steps))
    return TaskActivity(own.id, own.state, own.made_at) if own else None


def _state_of(steps: Sequence[StepState], run: Run) -> str:
    """Return the state of a task in a run of its project."""
    each = {step.state for step in steps}
    if each == {states.SUCCEEDED}:
        return states.SUCCEEDED
    if first := next((state for state in _ORDER if state in each), ""):
        return first
    if run.state in states.OPEN:
        return states.RUNNING if states.SUCCEEDED in each else states.QUEUED
    return run.state
