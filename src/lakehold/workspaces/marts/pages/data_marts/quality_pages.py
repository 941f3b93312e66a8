"""The data quality of a data mart: the outcomes of its checks, and the form that adds, edits and removes checks."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import ImmutableMultiDict

from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs.runnable import RunOptions
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.connections.field_values import texts_of
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, FieldErrors, parse_integer, row_settings, text_field
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.runs import RUNS
from lakehold.web.table_pages import table_frame
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import BROKEN, KEPT, UNKNOWN, CheckResult
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pipelines import CHECK_TASK, mart_settings
from lakehold.workspaces.marts.settings import DATA_MART_KIND, QUALITY_CHECK, CheckKind, QualityCheck
from lakehold.workspaces.upkeep import TASK_PARAMETER

routes = router("/resources")

DESIGN, _WORD = load_design(page_frame.FORMS, "check", {"check": QualityCheck}), "check"


def _form_errors(filled: ResourceForm) -> dict[str, str]:
    """Return the errors by field."""
    found = filled.errors(has_secret=False)
    if filled.text("check") == CheckKind.ROW_COUNT and not filled.text("least") and not filled.text("most"):
        found["least"] = "Enter a minimum or a maximum."
    return found


@routes.api_route("/{uid:path}/checks", methods=FORM_METHODS)
def edit_check(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the form for a new check, or for the one at position `n`; save it."""
    found, errors = page_frame.need_edit(ctx, uid, DATA_MART_KIND), FieldErrors()
    if request.method == "POST":
        n, filled = _place(sent), DESIGN.parse(sent, word=_WORD)
        errors.update(_form_errors(filled))
        try:
            if not errors:
                _save_check(ctx, found, n, filled)
                return pages.redirect(request, urls.resource(uid, "quality"), "Saved. Runs with the next refresh.")
        except InvalidInputError as error:
            errors["fields"] = str(error)
        except CORRECTABLE_ERRORS as error:
            errors["check"] = str(error)
    else:
        n = _place(request.query_params)
        check = _need_check(found.settings or {}, n) if n >= 0 else {}
        texts = texts_of(DESIGN.fields_of(_WORD), check)
        filled = DESIGN.blank(_WORD, **texts, version=str(found.version))
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Check"),
        "found": found,
        "to": urls.resource(uid, "checks"),
        "back": urls.resource(uid, "quality"),
        "n": n,
        "filled": filled,
        "options": {},
    }
    return pages.render_form(request, "marts/check_form.html", values, errors)


@routes.post("/{uid:path}/checks/remove")
def remove(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Remove a check, after a confirmation. Its past outcomes are kept."""
    found, n = page_frame.need_edit(ctx, uid, DATA_MART_KIND), _place(sent)
    settings, back = dict(found.settings or {}), urls.resource(uid, "quality")
    check = _need_check(settings, n)
    need_confirmation(request, sent, "Delete this check?", _check_name(check), do="Delete", back=back)
    left = [each for place, each in enumerate(row_settings(settings, "checks")) if place != n]
    changes, version = ResourceEdit(settings={**settings, "checks": left}), text_field(sent, "version")
    resource_edit.apply_edit(ctx, uid, changes, expect_version=parse_integer(version))
    return pages.redirect(request, back, Flash("The check was deleted."))


def _place(sent: ImmutableMultiDict[str, Any]) -> int:
    """Return the position of the check that a form or a URL names; -1 for a new one."""
    place = parse_integer(text_field(sent, "n"))
    return -1 if place is None else place


def _save_check(ctx: RequestContext, found: ResourceView, n: int, filled: ResourceForm) -> None:
    settings = dict(resource_metadata.load(ctx, found.uid).settings)
    some = [dict(each) for each in row_settings(settings, "checks")]
    new_check = filled.settings()
    if not new_check["stops"]:
        del new_check["stops"]
    name = QUALITY_CHECK.parse(new_check).name
    if any(_check_name(each) == name for place, each in enumerate(some) if place != n):
        raise InvalidInputError(f"A check named {name} already exists.", "Choose another name.")
    if 0 <= n < len(some):
        some[n] = new_check
    else:
        some.append(new_check)
    changes, version = ResourceEdit(settings={**settings, "checks": some}), filled.text("version")
    resource_edit.apply_edit(ctx, found.uid, changes, expect_version=parse_integer(version))


def _need_check(settings: Mapping[str, object], n: int) -> Mapping[str, object]:
    some = row_settings(settings, "checks")
    if not 0 <= n < len(some):
        raise NotFoundError("This check no longer exists.", "Open the list of checks.")
    return some[n]


def _check_name(check: Mapping[str, object]) -> str:
    try:
        return QUALITY_CHECK.parse(check).name
    except InvalidInputError:
        return str(check.get("name", ""))


TONES = {KEPT: "good", BROKEN: "bad", UNKNOWN: "warn"}
_MAX_OUTCOMES = 30


@routes.get("/{uid:path}/quality")
def quality_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the present checks of the data mart; removed ones are not shown."""
    found, trouble = page_frame.need_resource(ctx, uid, DATA_MART_KIND), None
    ctx.need("see", uid)
    try:
        names = [check.name for check in mart_settings(ctx, uid).checks]
    except InvalidInputError as error:
        names, trouble = [], error
    values: dict[str, object] = {
        "promises": [
            (name, results, _check_actions(found, n) if found.may_edit else [])
            for n, (name, results) in enumerate(_results_by_check(ctx, uid, names).items())
        ],
        "trouble": trouble,
        "tones": TONES,
        "look": _quality_actions(ctx, uid, some=bool(names)),
        "edits": found.may_edit,
    }
    return pages.render(request, "marts/quality.html", {**table_frame(ctx, found, "quality"), **values})


@routes.post("/{uid:path}/quality")
def check_now(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Start a run of the checks without a refresh."""
    page_frame.need_resource(ctx, uid, DATA_MART_KIND)
    ctx.need("see", uid)
    try:
        started = RUNS.start(ctx, uid, RunOptions(parameters={TASK_PARAMETER: CHECK_TASK}))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, urls.resource(uid, "quality"), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), Flash("The checks are running."))


def _quality_actions(ctx: RequestContext, uid: str, *, some: bool) -> list[PageAction]:
    new = PageAction("New check", urls.resource(uid, "checks"), icon="plus")
    now = PageAction("Run checks", urls.resource(uid, "quality"), "post", "circle-check")
    return [page_frame.action_of(ctx, uid, "edit", each) for each in ((now, new) if some else (new,))]


def _results_by_check(ctx: RequestContext, uid: str, names: list[str]) -> dict[str, list[CheckResult]]:
    """Return the latest results of each check, newest first."""
    by_name: dict[str, list[CheckResult]] = {name: [] for name in names}
    for result in checks.list_results(ctx, uid, limit=1_000):
        if len(before := by_name.get(result.name, [])) < _MAX_OUTCOMES:
            before.append(result)
    return by_name


def _check_actions(found: ResourceView, n: int) -> list[PageAction]:
    here, sent = urls.resource(found.uid, "checks"), (("n", str(n)), ("version", str(found.version)))
    asks = "Delete this check?"
    return [
        PageAction("Edit", f"{here}?n={n}", icon="pencil"),
        PageAction("Delete", f"{here}/remove", "post", "trash-2", sent, asks, danger=True),
    ]
