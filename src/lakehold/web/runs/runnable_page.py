"""The pages and actions that all resources that can be run share: their runs; run, reload, activate and deactivate."""

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceSummary, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs import run_table as states
from lakehold.runs.runnable import RunOptions
from lakehold.runs.scheduler.service import ACTIVATE, DEACTIVATE
from lakehold.runs.service import Run
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.list_view import ListState
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import RUNS, TRIGGERS
from lakehold.web.runs.run_list import STATE_FILTER, list_values, run_rows
from lakehold.workspaces.registry import describe_kind, find_workspace, runnable_kinds

routes = router("/resources")

_MAX_CHARTED = 30


@routes.get("/{uid:path}/runs")
def runs_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the runs of a resource."""
    found = need_runnable(ctx, uid)
    listing = ListState.from_request(request, ("-made",), (STATE_FILTER,))
    some: list[Run] = []
    if sees_runs(found):
        state, before = listing.chosen["state"] or None, listing.after or None
        some = RUNS.page(ctx, resource=uid, state=state, before=before, limit=listing.size + 1)
    ended = [run for run in latest_runs(ctx, found, _MAX_CHARTED) if run.started_at and run.ended_at][::-1]
    drawn = {states.FAILED: "bad", states.STOPPED: "off"}
    values: dict[str, object] = {
        **runnable_frame(ctx, found, "runs"),
        **list_values(ctx, listing, some),
        "spans": [max((run.ended_at or 0) - (run.started_at or 0), 0) / SECOND for run in ended],
        "sees": sees_runs(found) or found.kind not in RUNS.runnables,
        "drawn": [drawn.get(run.state, "") for run in ended],
    }
    return pages.render(request, "runs/resource_runs.html", values)


@routes.post("/{uid:path}/pipeline/run")
def run(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Run the resource now, or reload all of its data, as the caller."""
    found = need_runnable(ctx, uid)
    anew = bool(sent.get("reload"))
    try:
        started = RUNS.start(ctx, uid, RunOptions(reload=anew))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, resource_header.overview_url(ctx, uid), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), f"{found.name} was started.")


@routes.post("/{uid:path}/pipeline/activate")
@routes.post("/{uid:path}/pipeline/deactivate")
def activate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Activate the triggers of a resource, which then runs as the caller, or deactivate them."""
    ctx.need_visible(uid)
    active = request.url.path.endswith("/activate")
    TRIGGERS.set_all_active(ctx, uid, active=active)
    message, back = ("Activated. It runs as you.", "deactivate") if active else ("Deactivated.", "activate")
    flash = Flash(message, undo=urls.resource(uid, f"pipeline/{back}"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


@routes.post("/{uid:path}/pipeline/take-over")
def take_over(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Make the caller the author of the resource's definition."""
    resource_edit.take_over(ctx, uid)
    message = "You are the author of the definition now: its runs need your rights."
    return pages.redirect(request, resource_header.overview_url(ctx, uid), message)


def need_runnable(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the resource; raise InvalidInputError if its kind has no pages of runs and triggers."""
    found = resources.get(ctx, uid)
    if found.kind not in runnable_kinds() and not _has_runnable_overview(found.kind):
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is not a pipeline.", "Open the list of pipelines.")
    return found


def _has_runnable_overview(kind: str) -> bool:
    """Return whether a kind shares its overview with one that can be run, though it cannot be run itself yet."""
    workspace, overview = find_workspace(kind), describe_kind(kind).overview
    return any(
        find_workspace(each) == workspace and describe_kind(each).overview == overview for each in runnable_kinds()
    )


def sees_runs(found: ResourceView | ResourceSummary) -> bool:
    """Return whether the resource has runs that the caller may see."""
    return found.kind in RUNS.runnables and RUNS.runnables[found.kind].see in found.actions


def latest_runs(ctx: RequestContext, found: ResourceView, limit: int) -> list[Run]:
    """Return the newest runs of a resource."""
    return RUNS.page(ctx, resource=found.uid, limit=limit) if sees_runs(found) else []


def runnable_frame(ctx: RequestContext, found: ResourceView, part: str) -> dict[str, object]:
    """Return the template values that all pages of a resource that is run share."""
    last = kind_pages.page_label(found.kind, part)
    return {
        "found": found,
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, *([last] if last else [])),
        "tabs": resource_header.tabs(ctx, found.uid),
        "tab": urls.resource(found.uid, part),
        "run_now": run_actions(ctx, found),
        "menu": _menu(ctx, found),
        "offer": lambda right, act: resource_header.actions_of(ctx, found.uid, {right: act})[0],
    }


def overview_values(ctx: RequestContext, found: ResourceView, part: str, runs: list[Run]) -> dict[str, object]:
    """Return the template values that the overviews of resources that are run share: actions, runs and triggers."""
    visible = VisibleRefs(ctx)
    return {
        **runnable_frame(ctx, found, part),
        "may": resource_header.actions_of(ctx, found.uid),
        "runs": run_rows(ctx, runs),
        "triggers": TRIGGERS.for_resource(ctx, found.uid) if sees_runs(found) else [],
        "followed": lambda trigger: visible.refs(trigger.when.after),
    }


def run_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the actions that run a resource, each with the reason if the caller may not."""
    here = urls.resource(found.uid, "pipeline/run")
    if found.kind not in RUNS.runnables:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
        return [PageAction("Run now", icon="play", why_not=f"A {title} cannot be run here yet.")]
    runnable = RUNS.runnables[found.kind]
    now = PageAction("Run now", here, "post", "play")
    sure = "Run a full refresh? All rows in its tables are replaced."
    again = PageAction("Full refresh", here, "post", "refresh-cw", fields=(("reload", "1"),), confirm=sure)
    reload = runnable.start_action(RunOptions(reload=True))
    candidates = [*([(reload, again)] if runnable.reloads else []), (runnable.trigger, now)]
    return [act for action, each in candidates for act in resource_header.actions_of(ctx, found.uid, {action: each})]


def _menu(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    here, workspace = urls.resource, find_workspace(found.kind)
    edit = kind_pages.edit_form_url(found.uid, found.kind) or here(found.uid, "edit")
    candidates = {
        "edit": PageAction("Edit", edit, icon="pencil"),
        "delete": PageAction(
            "Delete", here(found.uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?"
        ),
    }
    return [
        *(workspace.menu_actions(ctx, found) if workspace else ()),
        *_activation_actions(ctx, found),
        *resource_header.actions_of(ctx, found.uid, candidates),
        *_take_over_action(ctx, found),
    ]


def _take_over_action(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the action that makes the caller the author of the definition, if somebody else is."""
    needed = found.may_edit and (found.kind not in RUNS.runnables or RUNS.runnables[found.kind].needs_authors)
    authors = resource_metadata.load_authors(ctx, found.uid).values() if needed else ()
    other = next((each.caller.member for each in authors if each.caller.member != ctx.caller.member), None)
    if other is None:
        return []
    author = VisibleRefs(ctx).ref(other)
    sure = f"It then needs your rights instead of those of {author.name if author else 'who changed it last'}."
    here = urls.resource(found.uid, "pipeline/take-over")
    return [PageAction("Take over definition", here, "post", "key-round", confirm=f"Take over the definition? {sure}")]


def _activation_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the actions that activate or deactivate its triggers; none if the caller may not see them."""
    if not sees_runs(found):
        return []
    triggers = TRIGGERS.for_resource(ctx, found.uid)
    here = urls.resource
    on = PageAction("Activate", here(found.uid, "pipeline/activate"), "post", "play")
    off = PageAction("Deactivate", here(found.uid, "pipeline/deactivate"), "post", "pause")
    candidates = {ACTIVATE: on} if any(not each.active for each in triggers) else {}
    candidates |= {DEACTIVATE: off} if any(each.active for each in triggers) else {}
    return resource_header.actions_of(ctx, found.uid, candidates) if candidates else []
