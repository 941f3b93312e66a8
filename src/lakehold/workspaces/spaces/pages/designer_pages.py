"""The designer of data tasks: the form of each type, which lists streams, previews transforms, and loses nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.http.dependencies import ReadContext, get_platform, read_transaction, write_transaction
from lakehold.catalog import kinds, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.runs import worker_client
from lakehold.web import form_tree, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.form_tree import Texts
from lakehold.web.form_values import CORRECTABLE_ERRORS, error_field, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.table_pages import sample_grid
from lakehold.workspaces.spaces import connections, owner_context, validation
from lakehold.workspaces.spaces.pages import task_form, task_options
from lakehold.workspaces.spaces.pages.project_page import need_project, new_task_actions
from lakehold.workspaces.spaces.pages.task_page import need_task
from lakehold.workspaces.spaces.settings import TASK, TASK_KIND
from lakehold.workspaces.spaces.tasks import RECORDS

routes = router("/resources")

_ABOUT = ("name", "description")
_DATASET_STEP = re.compile(r"datasets\.(\d{1,4})(?:\.steps\.(\d{1,4}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class TaskDesign:
    """A task in the designer: where it is, its type, and what is in the form."""

    project: str
    word: str
    """The type of the task; empty if it is to be chosen first."""
    texts: Texts
    found: ResourceView | None = None
    stored: Mapping[str, object] = field(default_factory=dict)

    @property
    def uid(self) -> str:
        """The task; empty if it is new."""
        return self.found.uid if self.found else ""

    @property
    def url(self) -> str:
        """The address of the form."""
        if self.found:
            return f"{urls.resource(self.uid, 'task/edit')}?{urlencode({'type': self.word})}"
        return f"{urls.resource(self.project, 'tasks/new')}?{urlencode({'type': self.word})}"

    def settings(self) -> dict[str, object]:
        """Return the settings that the form stands for; those that it does not have stay as they are."""
        own = RECORDS[self.word].__dataclass_fields__
        stays = {name: each for name, each in self.stored.items() if name not in own and name not in TASK.managed}
        return {**stays, "type": self.word, **task_form.to_settings(task_form.form_rows(self.word), self.texts)}


@routes.get("/{uid:path}/tasks/new")
def new_task(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of a new task, or the types that there are."""
    _need_new(ctx, uid)
    return _open(request, ctx, _design(request, uid))


@routes.post("/{uid:path}/tasks/new")
def create_task(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Change the form, or create the task."""
    read_transaction(request).run(lambda ctx: _need_new(ctx, uid))
    return _submit(request, _filled(_design(request, uid), sent))


@routes.get("/{uid:path}/task/edit")
def edit_task(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of a task."""
    return _open(request, ctx, _existing(request, ctx, uid))


@routes.post("/{uid:path}/task/edit")
def save_task(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Change the form, or save the task."""
    design = read_transaction(request).run(lambda ctx: _existing(request, ctx, uid))
    return _submit(request, _filled(design, sent))


def _need_new(ctx: RequestContext, project: str) -> None:
    need_project(ctx, project)
    ctx.need_draft(Draft(TASK_KIND, {"project": project}))


def _word(request: Request, stored: Mapping[str, object]) -> str:
    word = str(stored.get("type", "")) or request.query_params.get("type", "")
    return word if word in RECORDS else ""


def _design(request: Request, project: str) -> TaskDesign:
    """Return the design of a new task."""
    word = _word(request, {})
    texts = task_form.to_texts(task_form.form_rows(word), {}, is_root=True) if word else {}
    return TaskDesign(project, word, texts)


def _existing(request: Request, ctx: RequestContext, uid: str) -> TaskDesign:
    """Return the design of a task that the caller may update."""
    found = need_task(ctx, uid)
    kinds.need_right(ctx, uid, "edit")
    stored = resource_metadata.load(ctx, uid).settings
    word = _word(request, stored)
    texts = task_form.to_texts(task_form.form_rows(word), stored, is_root=True) if word else {}
    about = {"name": found.name, "description": found.description, "version": str(found.version)}
    return TaskDesign(owner_context.project_of(ctx, uid), word, {**texts, **about}, found, stored)


def _filled(design: TaskDesign, sent: FormData) -> TaskDesign:
    """Return the design with the texts of a submitted form."""
    rows = task_form.form_rows(design.word) if design.word else ()
    return replace(design, texts=task_form.fit_texts(rows, form_tree.parse_texts(sent)))


def _open(request: Request, ctx: RequestContext, design: TaskDesign) -> Response:
    if sent := pages.restored_form(request):
        design = _filled(design, sent)
    return _render(request, ctx, design)


def _submit(request: Request, design: TaskDesign) -> Response:
    """Handle a submitted form by the button that was pressed."""
    if not design.word:
        return read_transaction(request).run(lambda ctx: _render(request, ctx, design))
    do, _, path = str(design.texts.get("do", "save")).partition(":")
    outcome: dict[str, Any] = {}
    try:
        match do:
            case "add":
                _add(design, path)
            case "remove" | "up" | "down":
                form_tree.change_list(design.texts, do, path)
            case "streams":
                outcome["streams"] = _list_streams(request, design)
            case "take":
                _take_streams(design)
            case "preview":
                outcome |= _preview(request, design, path)
            case _:
                return _save(request, design)
    except CORRECTABLE_ERRORS as error:
        outcome = _outcome(design, error)
    except LakeholdError as error:
        outcome = {"error": error}
    return read_transaction(request).run(lambda ctx: _render(request, ctx, design, **outcome))


def _add(design: TaskDesign, path: str) -> None:
    """Add a record to the list at a path, of the variant behind a second colon, or of the kind that was selected."""
    path, _, variant = path.partition(":")
    row = task_form.find_list(task_form.form_rows(design.word), design.texts, path)
    if row is None:
        raise InvalidInputError("The form has changed meanwhile.", "Reload the page.")
    parent, name = form_tree.find_parent(design.texts, path)
    variant = variant or str(parent.get(f"new_{name}", ""))
    if row.kinds and variant not in row.kinds:
        raise InvalidInputError("Select which step to add.", field=path)
    form_tree.add_record(design.texts, path, task_form.blank_record(row, variant))


def _list_streams(request: Request, design: TaskDesign) -> list[task_options.Option]:
    """Return the streams of the chosen connection that no dataset has yet, asked of it by a worker."""
    uid = str(design.texts.get("connection", ""))
    if not uid:
        raise InvalidInputError("Select the data connection first.", field="connection")

    def need(ctx: RequestContext) -> Caller:
        connections.need_streams(ctx, uid, design.project)
        return ctx.caller

    caller = read_transaction(request).run(need)
    asked = {"connection": uid, "project": design.project}
    found = worker_client.probe(get_platform(request), caller, "spaces.streams", asked)
    return task_options.stream_options(found, design.texts)


def _take_streams(design: TaskDesign) -> None:
    chosen = task_options.stream_records(design.texts.get("chosen"))
    if not chosen:
        raise InvalidInputError(
            "Select at least one stream.", "List the streams again to see them.", field="connection"
        )
    for each in chosen:
        form_tree.add_record(design.texts, "datasets", each)


def _preview(request: Request, design: TaskDesign, path: str) -> dict[str, Any]:
    """Return the outcome of previewing a dataset of a transform, or one of its steps."""
    place = _DATASET_STEP.fullmatch(path)
    datasets = design.settings().get("datasets")
    if place is None or not isinstance(datasets, list) or int(place[1]) >= len(datasets) or not design.uid:
        raise InvalidInputError("Save the task before it is previewed.", "Its inputs follow from what is saved.")
    caller = read_transaction(request).run(lambda ctx: validation.need_preview(ctx, design.uid))
    step = int(place[2]) + 1 if place[2] else None
    asked = {"task": design.uid, "dataset": datasets[int(place[1])], "step": step}
    try:
        found = validation.preview(get_platform(request), caller, asked)
    except LakeholdError as error:
        # The worker was asked about one dataset, which is the first one to it.
        error.field = re.sub(r"^datasets\.0", f"datasets.{place[1]}", error.field)
        raise
    rows = found["rows"]
    grid = sample_grid(found["fields"], rows or [])
    return {"preview": {"path": path, "sql": found["sql"], "grid": grid, "sees": rows is not None}}


def _save(request: Request, design: TaskDesign) -> Response:
    """Save the task, or render what is wrong at its fields."""
    reading, rows = read_transaction(request), task_form.form_rows(design.word)
    errors = task_form.missing_fields(rows, design.texts)
    if not str(design.texts.get("name", "")).strip():
        errors = {"name": "Enter a name.", **errors}
    problems = TASK.problems(design.settings()) if not errors else []
    if errors or problems:
        outcome = _problems(design, problems, errors)
        return reading.run(lambda ctx: _render(request, ctx, design, **outcome))
    try:
        uid = write_transaction(request).run(lambda ctx: _store(ctx, design))
    except CORRECTABLE_ERRORS as error:
        outcome = _outcome(design, error)
        return reading.run(lambda ctx: _render(request, ctx, design, **outcome))
    said = "Saved." if design.uid else f"{design.texts['name']} was created."
    return pages.redirect(request, urls.resource(uid, "task"), f"{said} Prepare it to create its tables.")


def _store(ctx: RequestContext, design: TaskDesign) -> str:
    name, description = (str(design.texts.get(each, "")).strip() for each in ("name", "description"))
    if not design.uid:
        edges = {"project": design.project}
        return resources.create(ctx, TASK_KIND, name, edges=edges, settings=design.settings(), description=description)
    edit = ResourceEdit(name, description, design.settings())
    version = parse_integer(str(design.texts.get("version", "")))
    resource_edit.apply_edit(ctx, design.uid, edit, expect_version=version)
    return design.uid


def _known_fields(design: TaskDesign) -> dict[str, object]:
    """Return the places of the form that can have an error."""
    rows = task_form.form_rows(design.word)
    fields = {path: row for path, row, _ in task_form.walk_fields(rows, design.texts)}
    return {**dict.fromkeys(_ABOUT), **dict.fromkeys(task_form.walk_lists(rows, design.texts)), **fields}


def _problems(design: TaskDesign, problems: list[Any], errors: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return errors of settings as an outcome: each at its field, if the form has it."""
    known, found, other = _known_fields(design), dict(errors or {}), None
    for each in problems:
        place = error_field(each, {}) or task_form.error_place(each.field, known)
        if place:
            found.setdefault(place, str(each))
        else:
            other = other or each
    return {"errors": found, "error": other}


def _outcome(design: TaskDesign, error: LakeholdError) -> dict[str, Any]:
    return _problems(design, [error])


def _render(
    request: Request,
    ctx: RequestContext,
    design: TaskDesign,
    *,
    errors: Mapping[str, str] | None = None,
    error: LakeholdError | None = None,
    streams: list[task_options.Option] | None = None,
    preview: Mapping[str, object] | None = None,
) -> Response:
    uid, label = design.uid, RECORDS[design.word].label if design.word else "Data task"
    back = urls.resource(uid, "task") if uid else urls.resource(design.project, "graph")
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid or design.project, "Edit" if uid else "New task"),
        "title": f"Edit {design.found.name}" if design.found else f"New {label.lower()} task",
        "to": design.url,
        "back": back,
        "word": design.word,
        "record_types": new_task_actions(ctx, design.project) if not uid else _type_actions(uid),
        "cards": task_form.load_form(design.word) if design.word else (),
        "texts": design.texts,
        "is_new": not uid,
        "options": task_options.load_options(ctx, design.project, design.word, uid)
        if design.word
        else task_options.TaskOptions(),
        "streams": streams,
        "preview": preview,
        "is_list": lambda row: isinstance(row, task_form.RecordList),
        "is_group": lambda row: isinstance(row, task_form.RecordGroup),
        "records": form_tree.records,
    }
    return pages.render_form(request, "spaces/task_form.html", values, errors, error)


def _type_actions(uid: str) -> list[Any]:
    """Return the types that a task without settings can be given."""
    here = urls.resource(uid, "task/edit")
    return [
        {"label": record.label, "href": f"{here}?{urlencode({'type': word})}", "icon": record.icon, "why_not": ""}
        for word, record in RECORDS.items()
    ]
