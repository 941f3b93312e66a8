"""The data quality of a data mart: the outcomes of its checks, and the form that adds, edits and removes checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs.runnable import RunOptions
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer, row_settings, split_names
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs.services import RUNS
from lakehold.web.table_pages import table_frame
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.checks import BROKEN, KEPT, UNKNOWN, CheckResult
from lakehold.workspaces.marts.pages.data_marts.form_pages import need_edit, need_mart
from lakehold.workspaces.marts.pipelines import CHECK_TASK, TASK_PARAMETER, mart_settings
from lakehold.workspaces.marts.settings import QUALITY_CHECK, CheckKind

routes = router("/resources")

CHECK_KINDS = (
    (CheckKind.NOT_NULL.value, "Not empty", "Every row has a value."),
    (CheckKind.UNIQUE.value, "Unique", "No duplicate values in the given fields."),
    (CheckKind.ACCEPTED_VALUES.value, "Accepted values", "Only listed values occur."),
    (CheckKind.ROW_COUNT.value, "Row count", "The number of rows is in a range."),
    (CheckKind.FRESHNESS.value, "Freshness", "The newest value is recent enough."),
    (CheckKind.SQL.value, "Custom SQL", "A query that returns failing rows."),
)
_TEXTS = ("name", "fields", "values", "least", "most", "hours", "sql")
_BY_FIELD = frozenset({CheckKind.NOT_NULL, CheckKind.UNIQUE, CheckKind.ACCEPTED_VALUES, CheckKind.FRESHNESS})
_MAX_CHECKS = 100


@dataclass(frozen=True, slots=True)
class CheckForm:
    """The values of the form of a check."""

    kind: str = CheckKind.NOT_NULL.value
    texts: Mapping[str, str] = field(default_factory=dict)
    stops: bool = False
    version: str = ""

    def text(self, name: str) -> str:
        """Return the text of a field, or an empty string."""
        return self.texts.get(name, "")

    def to_settings(self) -> dict[str, object]:
        """Return the settings to save."""
        settings: dict[str, object] = {"check": self.kind}
        settings |= {"name": self.text("name")} if self.text("name") else {}
        settings |= {"fields": split_names(self.text("fields"))} if self.kind in _BY_FIELD else {}
        match self.kind:
            case "accepted values":
                settings["values"] = split_names(self.text("values"))
            case "row count":
                settings |= {name: int(self.text(name)) for name in ("least", "most") if self.text(name)}
            case "freshness":
                settings["hours"] = int(self.text("hours") or 24)
            case "sql":
                settings["sql"] = self.text("sql")
        return settings | ({"stops": True} if self.stops else {})

    def errors(self) -> dict[str, str]:
        """Return the errors by field."""
        numbers = [name for name in ("least", "most", "hours") if self.text(name)]
        found = {name: "Enter a whole number." for name in numbers if parse_integer(self.text(name)) is None}
        if self.kind in _BY_FIELD and not split_names(self.text("fields")):
            found["fields"] = "Enter a field."
        if self.kind == CheckKind.ACCEPTED_VALUES and not split_names(self.text("values")):
            found["values"] = "Enter the accepted values."
        if self.kind == CheckKind.ROW_COUNT and not self.text("least") and not self.text("most"):
            found["least"] = "Enter a minimum or a maximum."
        if self.kind == CheckKind.SQL and not self.text("sql"):
            found["sql"] = "Enter a SELECT that returns failing rows."
        return found


@routes.get("/{uid:path}/checks")
def check_form(request: Request, ctx: ReadContext, uid: str, n: int = -1) -> Response:
    """Render the form for a new check, or for the one at position `n`."""
    found = need_edit(ctx, uid)
    filled = CheckForm(version=str(found.version))
    if n >= 0:
        check = _need_check(found.settings or {}, n)
        texts = {name: _format_value(check.get(name, "")) for name in _TEXTS}
        filled = CheckForm(str(check.get("check", "")), texts, check.get("stops") is True, filled.version)
    return _render_form(request, ctx, found, n, filled)


@routes.post("/{uid:path}/checks")
def save(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the check."""
    found, filled, place = need_edit(ctx, uid), _parse_form(sent), parse_integer(str(sent.get("n", "")))
    n = -1 if place is None else place
    errors = filled.errors()
    if not errors:
        try:
            _save_check(ctx, found, n, filled)
        except InvalidInputError as error:
            errors = {"fields": str(error)}
        except CORRECTABLE_ERRORS as error:
            errors = {"check": str(error)}
    if errors:
        return _render_form(request, ctx, found, n, filled, errors=errors)
    return pages.redirect(request, urls.resource(uid, "quality"), Flash("Saved. Runs with the next refresh."))


@routes.post("/{uid:path}/checks/remove")
def remove(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Remove a check, after a confirmation. Its past outcomes are kept."""
    found, n = need_edit(ctx, uid), parse_integer(str(sent.get("n", "")))
    settings, back = dict(found.settings or {}), urls.resource(uid, "quality")
    check = _need_check(settings, -1 if n is None else n)
    if question := confirm(request, sent, "Delete this check?", _check_name(check), do="Delete", back=back):
        return question
    left = [each for place, each in enumerate(row_settings(settings, "checks")) if place != n]
    _save_settings(ctx, uid, {**settings, "checks": left}, str(sent.get("version", "")))
    return pages.redirect(request, back, Flash("The check was deleted."))


def _save_check(ctx: RequestContext, found: ResourceView, n: int, filled: CheckForm) -> None:
    settings = dict(resource_metadata.load(ctx, found.uid).settings)
    some = [dict(each) for each in row_settings(settings, "checks")]
    new_check = filled.to_settings()
    name = QUALITY_CHECK.parse(new_check).name
    if any(_check_name(each) == name for place, each in enumerate(some) if place != n):
        raise InvalidInputError(f"A check named {name} already exists.", "Choose another name.")
    if 0 <= n < len(some):
        some[n] = new_check
    else:
        some.append(new_check)
    if len(some) > _MAX_CHECKS:
        raise InvalidInputError(f"A data mart has {_MAX_CHECKS} checks at most.", "Delete one first.")
    _save_settings(ctx, found.uid, {**settings, "checks": some}, filled.version)


def _save_settings(ctx: RequestContext, uid: str, settings: Mapping[str, object], version: str) -> None:
    resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings), expect_version=parse_integer(version))


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


def _parse_form(form: FormData) -> CheckForm:
    kind = str(form.get("check", ""))
    texts = {name: str(form.get(name, "")).replace("\r\n", "\n").strip() for name in _TEXTS}
    known = kind if kind in tuple(CheckKind) else CheckKind.NOT_NULL.value
    return CheckForm(known, texts, bool(form.get("stops")), str(form.get("version", "")))


def _format_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _render_form(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    n: int,
    filled: CheckForm,
    *,
    errors: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Check"),
        "found": found,
        "to": urls.resource(found.uid, "checks"),
        "back": urls.resource(found.uid, "quality"),
        "n": n,
        "kinds": CHECK_KINDS,
        "filled": filled,
        "errors": errors,
    }
    return pages.render(request, "marts/check_form.html", values, status=422 if errors else 200)


TONES = {KEPT: "good", BROKEN: "bad", UNKNOWN: "warn"}
_MAX_OUTCOMES = 30


@routes.get("/{uid:path}/quality")
def quality_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the present checks of the data mart; removed ones are not shown."""
    found, trouble = need_mart(ctx, uid), None
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
    need_mart(ctx, uid)
    ctx.need("see", uid)
    try:
        started = RUNS.start(ctx, uid, RunOptions(parameters={TASK_PARAMETER: CHECK_TASK}))
    except (ConflictError, InvalidInputError) as error:
        return pages.redirect(request, urls.resource(uid, "quality"), Flash(str(error), tone="bad"))
    return pages.redirect(request, urls.run(started.id), Flash("The checks are running."))


def _quality_actions(ctx: RequestContext, uid: str, *, some: bool) -> list[PageAction]:
    new = PageAction("New check", urls.resource(uid, "checks"), icon="plus")
    now = PageAction("Run checks", urls.resource(uid, "quality"), "post", "circle-check")
    return [
        act for each in ((now, new) if some else (new,)) for act in resource_header.actions_of(ctx, uid, {"edit": each})
    ]


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
