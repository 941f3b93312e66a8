"""The monitor: every task of all data spaces that the caller may see, with the run that last concerned it.

A task runs by itself, or as a part of its project: the steps that are its own count. Everything is loaded by a few
queries, however many tasks there are, and only what the access filter lists.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lakehold.access.facts.view import FactView
from lakehold.catalog import resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceRef, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.spaces import owner_context, task_runs
from lakehold.workspaces.spaces.datasets import DesignState, design_state
from lakehold.workspaces.spaces.settings import SPACE_KIND, TASK_KIND
from lakehold.workspaces.spaces.task_runs import LastRun

NEVER = "never run"
LACKS_ROLE = "owner lacks role"
"""The state of a task whose next run is refused, because the owner of its project lacks a role."""


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """A task in the monitor."""

    task: ResourceRef
    project: ResourceRef
    space: ResourceRef
    design: DesignState
    owner_lacks_role: bool
    sees_runs: bool
    """Whether the caller may see runs of the task; without, the next two are unknown."""
    last: LastRun | None
    succeeded_at: Moment | None
    """When all of its data was last loaded."""

    @property
    def state(self) -> str:
        """The state of its last run."""
        return self.last.state if self.last else NEVER

    @property
    def error(self) -> str:
        """The error of its last run, if that failed."""
        return self.last.error if self.last else ""

    @property
    def rows(self) -> int | None:
        """The rows that its last run has written."""
        return self.last.rows if self.last else None

    def duration(self, now: Moment) -> Moment | None:
        """Return how long its last run took, or takes."""
        if self.last is None or self.last.started_at is None:
            return None
        return max((self.last.ended_at or now) - self.last.started_at, 0)

    def latency(self, now: Moment) -> Moment | None:
        """Return the time since its data was last loaded."""
        return None if self.succeeded_at is None else max(now - self.succeeded_at, 0)


def load(ctx: RequestContext, spaces: Iterable[str] | None = None) -> list[TaskStatus]:
    """Return all tasks that the caller may list, or those of some spaces."""
    among = None if spaces is None else {ctx.view.resource(uid) for uid in spaces}
    numbers = ctx.session.ids(ctx.principal, "list", TASK_KIND)
    places = ctx.session.read_view(lambda view: {each: _place(view, each) for each in numbers})
    places = {task: place for task, place in places.items() if among is None or place[1] in among}
    opened = set(ctx.session.ids(ctx.principal, "open", TASK_KIND)) & places.keys()
    known = sorted(opened)
    runs = task_runs.load_last_runs(ctx, known)
    succeeded = task_runs.load_last_loads(ctx, known)
    settings = resource_metadata.load_many(ctx, places)
    refs = ctx.session.read_view(
        lambda view: {n: make_ref(view, view.uid(n)) for task, place in places.items() for n in (task, *place)}
    )
    return [
        TaskStatus(
            task=refs[task],
            project=refs[project],
            space=refs[space],
            design=design_state(settings[task].settings) if task in settings else DesignState.NEW,
            owner_lacks_role=not _runs_as_owner(ctx, refs[task].uid, refs[project].uid),
            sees_runs=task in opened,
            last=runs.get(task),
            succeeded_at=succeeded.get(task),
        )
        for task, (project, space) in places.items()
    ]


def need_space(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return a data space, or refuse what is none."""
    return workspaces.need_workspace(ctx, uid, SPACE_KIND)


def need_task(ctx: RequestContext, uid: str) -> ResourceRef:
    """Return a task, or refuse what is none."""
    ctx.need_visible(uid)
    found = make_ref(ctx.view, uid)
    if found.kind != TASK_KIND:
        raise InvalidInputError(f"{quote(uid)} is not a data task.", "Choose tasks of the list.", field="task")
    return found


def _place(view: FactView, task: int) -> tuple[int, int]:
    """Return the project and the space of a task."""
    (project,) = view.edges_out["project"].get(task) or ()
    (space,) = view.edges_out["space"].get(project) or ()
    return project, space


def _runs_as_owner(ctx: RequestContext, task: str, project: str) -> bool:
    """Whether the owner of the project has the roles that the task needs."""
    owner = owner_context.owner_of(ctx, project)
    return bool(owner) and ctx.session.holds(owner, "owner_context", task) and ctx.session.holds(owner, "own", task)
