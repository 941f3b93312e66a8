"""The page of a data project: its tasks as a graph and as a list, with what became of them, live while they run."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import lineage_page, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.lineage_page import GraphBox, GraphDrawing
from lakehold.web.navigation import Navigation
from lakehold.web.routing import router
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.runs.run_page import run_actions
from lakehold.web.runs.runnable_page import runnable_frame, sees_runs
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.datasets import DesignState
from lakehold.workspaces.spaces.owner_context import MissingRole
from lakehold.workspaces.spaces.project_graph import ProjectGraph, TaskNode, load_graph
from lakehold.workspaces.spaces.settings import PROJECT_KIND, TASK_KIND
from lakehold.workspaces.spaces.tasks import RECORDS

routes = router("/resources")

_UNSEEN = "\0"
"""All tasks of other projects that somebody does not see: no id has it in it."""
_SHORT_STATES = {
    DesignState.NEW: "new",
    DesignState.READY_TO_PREPARE: "prepare",
    DesignState.READY_TO_RUN: "ready",
}


def need_project(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the data project."""
    found = resources.get(ctx, uid)
    if found.kind != PROJECT_KIND:
        raise NotFoundError(f"There is no data project {quote(uid)}.", "Check the name in the data space.")
    return found


@routes.get("/{uid:path}/graph")
def project_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, uid: str) -> Response:
    """Render the page of a data project."""
    found = need_project(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    opened = sees_runs(found)
    graph = load_graph(ctx, uid, RUNS if opened else None)
    # It names spaces, which others may not see, to those who can have it mended.
    can_mend = any(ctx.session.check(ctx.principal, action, uid) for action in ("operate", "update"))
    missing = owner_context.missing_in_project(ctx, uid, [node.uid for node in graph.nodes]) if can_mend else []
    owner = owner_context.owner_of(ctx, uid)
    values: dict[str, object] = {
        **runnable_frame(ctx, found, "graph"),
        **_live_values(ctx, found, graph),
        "opened": opened,
        "run_now": _run_actions(ctx, found, graph, missing),
        "new_task": new_task_actions(ctx, uid),
        "missing": missing,
        "owner": VisibleRefs(ctx).ref(owner) if owner else None,
        "change_owner": _change_owner(ctx, uid, owner),
        "triggers": TRIGGERS.for_resource(ctx, uid) if opened else [],
        "followed": lambda trigger: VisibleRefs(ctx).refs(trigger.when.after),
    }
    return pages.render(request, "spaces/project.html", values)


@routes.get("/{uid:path}/graph/live")
def project_live(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the part of the page that changes while tasks run."""
    found = need_project(ctx, uid)
    ctx.need("open", uid)
    values = _live_values(ctx, found, load_graph(ctx, uid, RUNS))
    return pages.render(request, "spaces/project_live.html", values, navigation=Navigation())


def _live_values(ctx: RequestContext, found: ResourceView, graph: ProjectGraph) -> dict[str, object]:
    return {
        "found": found,
        "graph": graph,
        "drawing": draw_graph(ctx, graph),
        "box": (lineage_page.WIDTH, lineage_page.HEIGHT),
        "run_states": {node.uid: node.last.state for node in graph.nodes if node.last},
        "own": frozenset(node.uid for node in graph.nodes),
    }


def draw_graph(ctx: RequestContext, graph: ProjectGraph) -> GraphDrawing:
    """Return the drawing of the tasks, with those of other projects that they read."""
    own = {node.uid: _box(node) for node in graph.nodes}
    visible, boxes, links = VisibleRefs(ctx), dict(own), list[tuple[str, str]]()
    for end, far in graph.links:
        near = end if end in own or visible.sees(end) else _UNSEEN
        if near not in boxes:
            boxes[near] = _foreign_box(ctx, visible, near)
        links.append((near, far))
    links = list(dict.fromkeys(links))
    columns = lineage_page.assign_columns(links, boxes)
    return lineage_page.layout_graph({uid: (columns[uid], box) for uid, box in boxes.items()}, links)


def _box(node: TaskNode) -> GraphBox:
    title = f"{node.label} · {_SHORT_STATES[node.state]}"
    return GraphBox(title, node.name, node.icon, urls.resource(node.uid, "task"), node.uid)


def _foreign_box(ctx: RequestContext, visible: VisibleRefs, uid: str) -> GraphBox:
    """Return the box of a task of another project, which only those see who may."""
    ref = visible.ref(uid)
    if ref is None:
        return GraphBox("More", "Not visible to you", "eye-off")
    above = visible.parent(uid)
    return lineage_page.resource_box(
        f"In {above.name}" if above else "Another project", ref, resource_header.overview_url(ctx, uid)
    )


def _run_actions(
    ctx: RequestContext, found: ResourceView, graph: ProjectGraph, missing: Sequence[MissingRole]
) -> list[PageAction]:
    """Return the action that runs the project, or stops or resumes its last run."""
    here = urls.resource(found.uid, "pipeline/run")
    again = PageAction(
        *("Reload", here, "post", "refresh-cw", (("reload", "1"),)),
        confirm="Reload all tasks? All rows of their datasets are read again.",
    )
    offered = [
        resource_header.actions_of(ctx, found.uid, {"operate": each})[0]
        for each in (again, PageAction("Run project", here, "post", "play"))
    ]
    if missing:
        offered = [replace(each, href="", why_not=each.why_not or missing[0].text) for each in offered]
    elif not graph.nodes:
        offered = [replace(each, href="", why_not=each.why_not or "The project has no tasks yet.") for each in offered]
    whole = [each for each in run_actions(ctx, graph.run) if each.label in {"Stop", "Resume"}] if graph.run else []
    return [*whole, *offered]


def new_task_actions(ctx: RequestContext, project: str) -> list[PageAction]:
    """Return the actions that create a task, one for each type."""
    here = urls.resource(project, "tasks/new")
    may = ctx.session.check(ctx.principal, "create", Draft(TASK_KIND, {"project": project}))
    why_not = "" if may else "You need Can edit in the data space to create tasks."
    return [
        PageAction(
            record.label,
            "" if why_not else f"{here}?{urlencode({'type': word})}",
            icon=record.icon,
            why_not=why_not,
        )
        for word, record in RECORDS.items()
    ]


def _change_owner(ctx: RequestContext, uid: str, owner: str) -> PageAction:
    """Return the link to the page that changes the owner of the project."""
    query = {"role": "owner", **({"from": owner} if owner else {})}
    part = f"access/{'transfer' if owner else 'give'}?{urlencode(query)}"
    return resource_header.actions_of(
        ctx, uid, {"change_owner": PageAction("Change owner", urls.resource(uid, part), icon="user")}
    )[0]
