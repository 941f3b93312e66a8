"""The graph of a project's tasks: what each reads, the state of its design, and what became of it the last time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.runs import run_table as states
from lakehold.runs.service import Run, Runs
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces.datasets import DesignState, design_state
from lakehold.workspaces.spaces.settings import TASK_KIND
from lakehold.workspaces.spaces.task_runs import LastRun, load_last_runs
from lakehold.workspaces.spaces.tasks import RECORDS

MAX_TASKS = 500


@dataclass(frozen=True, slots=True)
class TaskNode:
    """A task of the graph."""

    uid: str
    name: str
    type: str
    """Empty if its settings are missing."""
    state: DesignState
    description: str = ""
    last: LastRun | None = None
    """The run that last concerned it."""

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
        mine = [each.last.state for each in self.nodes if each.last]
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
    opened = set(ctx.session.ids(ctx.principal, "open", TASK_KIND, within=project))
    numbers = {node.uid: ctx.view.resource(node.uid) for node in graph.nodes}
    last = load_last_runs(ctx, sorted(opened & set(numbers.values())))
    nodes = [replace(node, last=last.get(numbers[node.uid])) for node in graph.nodes]
    mine = runs.last_runs(ctx, [project]).get(project)
    return replace(graph, nodes=nodes, run=runs.get(ctx, mine.id) if mine else None)
