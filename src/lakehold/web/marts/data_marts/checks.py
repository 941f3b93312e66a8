"""What a data mart promises of its rows, edited: a check is added, changed or taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.forms import parts, whole
from lakehold.web.marts.data_marts.routes import need_edit
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.checks import CheckKind, QualityCheck
from lakehold.workspaces.marts.definitions import DATA_MART_LABEL
from lakehold.workspaces.settings_reader import SettingsReader

routes = router("/resources")

KINDS = (
    (CheckKind.NOT_NULL.value, "Not empty", "A field has a value in every row."),
    (CheckKind.UNIQUE.value, "Unique", "No two rows have the same values in some fields."),
    (CheckKind.ACCEPTED_VALUES.value, "Accepted values", "A field has only values of a list."),
    (CheckKind.ROW_COUNT.value, "Number of rows", "There are enough rows, and not too many."),
    (CheckKind.FRESHNESS.value, "Freshness", "The newest value of a field is not too old."),
    (CheckKind.SQL.value, "SQL of your own", "A query gives the rows that are wrong."),
)
_TEXTS = ("name", "fields", "values", "least", "most", "hours", "sql")
_BY_FIELD = frozenset({CheckKind.NOT_NULL, CheckKind.UNIQUE, CheckKind.ACCEPTED_VALUES, CheckKind.FRESHNESS})
_MOST = 100


@dataclass(frozen=True, slots=True)
class Filled:
    """The form of a check as it is filled in."""

    kind: str = CheckKind.NOT_NULL.value
    texts: Mapping[str, str] = field(default_factory=dict)
    stops: bool = False
    version: str = ""

    def text(self, name: str) -> str:
        """What a field says; empty if nothing."""
        return self.texts.get(name, "")

    def told(self) -> dict[str, object]:
        """What is kept of it."""
        told: dict[str, object] = {"check": self.kind}
        told |= {"name": self.text("name")} if self.text("name") else {}
        told |= {"fields": parts(self.text("fields"))} if self.kind in _BY_FIELD else {}
        match self.kind:
            case "accepted values":
                told["values"] = parts(self.text("values"))
            case "row count":
                told |= {name: int(self.text(name)) for name in ("least", "most") if self.text(name)}
            case "freshness":
                told["hours"] = int(self.text("hours") or 24)
            case "sql":
                told["sql"] = self.text("sql")
        return told | ({"stops": True} if self.stops else {})

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        numbers = [name for name in ("least", "most", "hours") if self.text(name)]
        found = {name: "Write a whole number." for name in numbers if whole(self.text(name)) is None}
        if self.kind in _BY_FIELD and not parts(self.text("fields")):
            found["fields"] = "Name the field that it is about."
        if self.kind == CheckKind.ACCEPTED_VALUES and not parts(self.text("values")):
            found["values"] = "Name the values that it may have."
        if self.kind == CheckKind.ROW_COUNT and not self.text("least") and not self.text("most"):
            found["least"] = "Say how many there are at the least, or at the most."
        if self.kind == CheckKind.SQL and not self.text("sql"):
            found["sql"] = "Write a SELECT that gives the rows that are wrong."
        return found


@routes.get("/{uid:path}/checks")
def check_form(request: Request, ctx: ReadContext, uid: str, n: int = -1) -> Response:
    """The form for a new one; or for one that is there, by its place."""
    found = need_edit(ctx, uid)
    if n < 0:
        return _form(request, ctx, found, n, Filled(version=str(found.version)))
    return _form(request, ctx, found, n, _present(_at(found.settings or {}, n), str(found.version)))


@routes.post("/{uid:path}/checks")
def save(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Keep it."""
    found, filled, place = need_edit(ctx, uid), _sent(sent), whole(str(sent.get("n", "")))
    n = -1 if place is None else place
    errors = filled.errors()
    if not errors:
        try:
            _kept(ctx, found, n, filled)
        except InvalidInputError as error:
            errors = {"fields": str(error)}
        except forms.MENDED as error:
            errors = {"check": str(error)}
    if errors:
        return _form(request, ctx, found, n, filled, errors=errors)
    return pages.redirect(request, urls.resource(uid, "quality"), Flash("Saved. The next refresh looks at it."))


@routes.post("/{uid:path}/checks/remove")
def remove(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Take one away. How it came out before is kept."""
    found, n = need_edit(ctx, uid), whole(str(sent.get("n", "")))
    told, back = dict(found.settings or {}), urls.resource(uid, "quality")
    check = _at(told, -1 if n is None else n)
    if question := confirm(request, sent, "Take this check away?", _name(check), do="Take away", back=back):
        return question
    left = [each for place, each in enumerate(of(told)) if place != n]
    resource_edit.apply_edit(
        ctx, uid, ResourceEdit(settings={**told, "checks": left}), expect_version=whole(str(sent.get("version", "")))
    )
    return pages.redirect(request, back, Flash("The check is gone."))


def of(settings: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """The checks, as settings have them."""
    some = settings.get("checks")
    return [each for each in some if isinstance(each, Mapping)] if isinstance(some, list) else []


def _kept(ctx: RequestContext, found: ResourceView, n: int, filled: Filled) -> None:
    told = dict(resource_metadata.load(ctx, found.uid).settings)
    some = [dict(each) for each in of(told)]
    wanted = filled.told()
    name = QualityCheck.from_settings(SettingsReader(wanted, DATA_MART_LABEL)).name
    if any(_name(each) == name for place, each in enumerate(some) if place != n):
        raise InvalidInputError(f"There is a check called {name} already.", "Give this one another name.")
    if 0 <= n < len(some):
        some[n] = wanted
    else:
        some.append(wanted)
    if len(some) > _MOST:
        raise InvalidInputError(f"A data mart has {_MOST} checks at the most.", "Take one away first.")
    resource_edit.apply_edit(
        ctx, found.uid, ResourceEdit(settings={**told, "checks": some}), expect_version=whole(filled.version)
    )


def _at(settings: Mapping[str, object], n: int) -> Mapping[str, object]:
    some = of(settings)
    if not 0 <= n < len(some):
        raise NotFoundError("There is no such check any more.", "Look at the list of checks.")
    return some[n]


def _name(told: Mapping[str, object]) -> str:
    try:
        return QualityCheck.from_settings(SettingsReader(told, DATA_MART_LABEL)).name
    except InvalidInputError:
        return str(told.get("name", ""))


def _present(told: Mapping[str, object], version: str) -> Filled:
    texts = {name: _said(told.get(name, "")) for name in _TEXTS}
    return Filled(str(told.get("check", "")), texts, told.get("stops") is True, version)


def _sent(form: FormData) -> Filled:
    kind = str(form.get("check", ""))
    texts = {name: str(form.get(name, "")).replace("\r\n", "\n").strip() for name in _TEXTS}
    known = kind if kind in tuple(CheckKind) else CheckKind.NOT_NULL.value
    return Filled(known, texts, bool(form.get("stops")), str(form.get("version", "")))


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _form(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    n: int,
    filled: Filled,
    *,
    errors: dict[str, str] | None = None,
) -> Response:
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Check"),
        "found": found,
        "to": urls.resource(found.uid, "checks"),
        "back": urls.resource(found.uid, "quality"),
        "n": n,
        "kinds": KINDS,
        "filled": filled,
        "errors": errors or {},
    }
    return pages.render(request, "marts/check_form.html", values, status=422 if errors else 200)
