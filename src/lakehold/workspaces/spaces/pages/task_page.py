"""The page of a data task: its state, what it reads and makes, its runs; validate it, and prepare it by its plan."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import (
    CurrentPlatform,
    ReadContext,
    WriteContext,
    get_platform,
    read_transaction,
)
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog import kinds, resource_metadata, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.errors import SourceClosedError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.table_views import TableView, view_of
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.cookies import Flash
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.run_page import run_actions
from lakehold.web.runs.runnable_page import latest_runs, overview_values, sees_runs
from lakehold.web.table_pages import sql_field_type
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import change_captures, owner_context, validation
from lakehold.workspaces.spaces.datasets import DesignState, TableChange, design_state, list_datasets
from lakehold.workspaces.spaces.settings import TASK_KIND
from lakehold.workspaces.spaces.tasks import RECORDS
from lakehold.workspaces.spaces.validation import TaskProblem, TaskValidation

routes = router("/resources")

_LATEST, _MOST_DATASETS = 5, 60
_INPUT_EDGES, _OUTPUT_EDGES = ("sources", "reads", "tables", "marts"), ("targets",)
_CHANGES: Mapping[TableChange, tuple[str, str]] = {
    TableChange.NONE: ("No change", "neutral"),
    TableChange.CREATE: ("Create", "good"),
    TableChange.ALTER: ("Alter", "accent"),
    TableChange.RECREATE: ("Recreate", "bad"),
    TableChange.DROP: ("Drop", "bad"),
    TableChange.REGISTER: ("Register", "good"),
    TableChange.UNREGISTER: ("Unregister", "neutral"),
    TableChange.LATER: ("Created by the first run", "neutral"),
}


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A dataset in the list of a task."""

    uid: str
    name: str
    columns: tuple[tuple[str, str], ...] = ()
    rows: int | None = None


def need_task(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the data task."""
    found = resources.get(ctx, uid)
    if found.kind != TASK_KIND:
        raise NotFoundError(f"There is no data task {quote(uid)}.", "Check the name in the data space.")
    return found


@routes.get("/{uid:path}/task")
def task_page(request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str) -> Response:
    """Render the page of a data task."""
    found = need_task(ctx, uid)
    resource_usage.record(platform, ctx, kinds.catalog_kind(ctx.view.policy, found.kind).visible, uid)
    return _render(request, ctx, lake, found)


@routes.get("/{uid:path}/task/live")
def task_live(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the part of the page that changes while the task runs."""
    found = need_task(ctx, uid)
    ctx.need("open", uid)
    values = overview_values(ctx, found, "task", latest_runs(ctx, found, _LATEST))
    return pages.render(request, "spaces/task_live.html", values, navigation=Navigation())


@routes.post("/{uid:path}/task/validate")
def validate(request: Request, lake: CurrentLake, uid: str) -> Response:
    """Validate the task, and render the result."""
    found, error = run_validation(request, uid)
    return read_transaction(request).run(
        lambda ctx: _render(request, ctx, lake, need_task(ctx, uid), result=found, error=error)
    )


def run_validation(request: Request, uid: str) -> tuple[TaskValidation | None, LakeholdError | None]:
    """Validate a task as the caller; the error if no worker could be asked. Missing rights are raised."""

    def find(ctx: RequestContext) -> tuple[Caller, list[TaskProblem], DesignState]:
        validation.need_validate(ctx, uid)
        return ctx.caller, *validation.find_problems(ctx, uid)

    caller, problems, state = read_transaction(request).run(find)
    try:
        return validation.validate_task(get_platform(request), caller, uid, problems, state), None
    except LakeholdError as error:
        return None, error


@routes.get("/{uid:path}/task/prepare")
def prepare_form(request: Request, uid: str) -> Response:
    """Render what prepare would do, with the button that does it."""
    read_transaction(request).run(lambda ctx: _need_prepare(ctx, uid))
    result, error = run_validation(request, uid)
    return read_transaction(request).run(lambda ctx: _plan_page(request, ctx, uid, result, error))


@routes.post("/{uid:path}/task/prepare")
def prepare(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Start the run that prepares the task."""
    found = _need_prepare(ctx, uid)
    try:
        run = validation.start_prepare(ctx, uid, recreate=bool(sent.get("recreate")))
    except (ConflictError, InvalidInputError) as refusal:
        return pages.redirect(request, urls.resource(uid, "task"), Flash(str(refusal), tone="bad"))
    return pages.redirect(request, urls.run(run.id), f"{found.name} is being prepared.")


def _need_prepare(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_task(ctx, uid)
    owner_context.need(ctx, "prepare", uid)
    return found


def _plan_page(
    request: Request, ctx: RequestContext, uid: str, result: TaskValidation | None, error: LakeholdError | None
) -> Response:
    found = need_task(ctx, uid)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Prepare"),
        "found": found,
        "result": result,
        "error": error,
        "changes": _CHANGES,
        "to": urls.resource(uid, "task/prepare"),
        "back": urls.resource(uid, "task"),
    }
    return pages.render(request, "spaces/prepare.html", values)


def _render(
    request: Request,
    ctx: RequestContext,
    lake: IcebergCatalog,
    found: ResourceView,
    *,
    result: TaskValidation | None = None,
    error: LakeholdError | None = None,
) -> Response:
    uid, visible, opened = found.uid, VisibleRefs(ctx), sees_runs(found)
    stored = resource_metadata.load(ctx, uid).settings
    inputs = [end for edge in _INPUT_EDGES for end in edge_targets(ctx, uid, edge)]
    outputs = [end for edge in _OUTPUT_EDGES for end in edge_targets(ctx, uid, edge)]
    record = RECORDS.get(str(stored.get("type", "")))
    problems = list(result.problems) if result else []
    if result is None and opened:
        problems, _ = validation.find_problems(ctx, uid)
    values: dict[str, object] = {
        **overview_values(ctx, found, "task", latest_runs(ctx, found, _LATEST)),
        "run_now": task_actions(ctx, found, stored),
        "edit": edit_action(ctx, uid),
        "opened": opened,
        "label": record.label if record else "Data",
        "state": design_state(stored),
        "problems": problems,
        "slot_problems": _slot_problems(ctx, uid) if opened else [],
        "result": result,
        "error": error,
        "changes": _CHANGES,
        "inputs": visible.refs(inputs),
        "outputs": visible.refs(outputs),
        "more_inputs": not all(map(visible.sees, inputs)),
        "more_outputs": not all(map(visible.sees, outputs)),
        "datasets": dataset_rows(ctx, lake, uid, with_columns=opened),
    }
    return pages.render(request, "spaces/task.html", values)


def _slot_problems(ctx: RequestContext, uid: str) -> list[str]:
    """Return what is wrong with the replication slots of a task, such as a log that may fill the disk."""
    return [each.problem for each in change_captures.list_of_task(ctx, uid) if each.problem]


def edit_action(ctx: RequestContext, uid: str) -> PageAction:
    """Return the action that opens the designer."""
    act = PageAction("Edit", urls.resource(uid, "task/edit"), icon="pencil")
    return resource_header.actions_of(ctx, uid, {"update": act})[0]


def task_actions(ctx: RequestContext, found: ResourceView, stored: Mapping[str, object]) -> list[PageAction]:
    """Return the actions on a task, each with the reason if it cannot be done."""
    uid, state = found.uid, design_state(stored)
    here = urls.resource(uid, "pipeline/run")
    again = "Reload it? All rows of its datasets are read again, in one snapshot each."
    candidates = {
        "validate": PageAction("Validate", urls.resource(uid, "task/validate"), "post", "clipboard-check"),
        "prepare": PageAction("Prepare…", urls.resource(uid, "task/prepare"), icon="layers"),
        "reload": PageAction("Reload", here, "post", "refresh-cw", (("reload", "1"),), again),
        "run": PageAction("Run now", here, "post", "play"),
    }
    offered = dict(zip(candidates, resource_header.actions_of(ctx, uid, candidates), strict=True))
    if ctx.session.check(ctx.principal, "stop", uid) and (missing := owner_context.missing_roles(ctx, uid)):
        # The caller may, so that it is the owner of the project who may not.
        text = missing[0].text
        offered |= {name: replace(act, href="", why_not=text) for name, act in offered.items() if name != "validate"}
    reason = "Prepare it first." if state is DesignState.READY_TO_PREPARE else "Complete its settings first."
    if state is not DesignState.READY_TO_RUN:
        offered |= {name: _refused(offered[name], reason) for name in ("run", "reload")}
    if state is DesignState.NEW:
        offered["prepare"] = _refused(offered["prepare"], reason)
    last = latest_runs(ctx, found, 1)
    begun = [each for each in run_actions(ctx, last[0]) if each.label in {"Stop", "Resume"}] if last else []
    return [*begun, *offered.values()]


def _refused(act: PageAction, reason: str) -> PageAction:
    """Return the action as one that cannot be done, unless a right is missing for it already."""
    return act if act.why_not else replace(act, href="", why_not=reason)


def dataset_rows(ctx: RequestContext, lake: IcebergCatalog, task: str, *, with_columns: bool) -> list[DatasetRow]:
    """Return the datasets of a task by name, with their columns for those who may open the task."""
    ids = dict(sorted(list_datasets(ctx, task).items()))
    rows = [DatasetRow(uid, name) for name, uid in ids.items()]
    if not with_columns:
        return rows
    views: dict[str, TableView] = {}
    for row in rows[:_MOST_DATASETS]:
        with suppress(SourceClosedError):
            views[row.uid] = view_of(ctx, row.uid)
    there = lake.metadata_locations({view.place for view in views.values()})
    located = {uid: (view, there[view.place]) for uid, view in views.items() if view.place in there}
    return [_with_columns(row, *located[row.uid]) if row.uid in located else row for row in rows]


def _with_columns(row: DatasetRow, view: TableView, location: str) -> DatasetRow:
    """Return the dataset with the columns of its table, if its files can be read."""
    try:
        metadata = view.load_metadata(location)
    except OSError:
        return row
    columns = tuple((field.name, sql_field_type(field.type)) for field in metadata.fields)
    return replace(row, columns=columns, rows=metadata.current.count("total-records") if metadata.current else 0)
