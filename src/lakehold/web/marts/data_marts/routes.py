"""The form of a data mart: a new one, and changing it. Its definition is tried out before it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking
from lakehold.web.marts.data_marts import form, joins, offers
from lakehold.web.marts.data_marts.form import Filled
from lakehold.web.marts.data_marts.joins import Join
from lakehold.web.marts.data_marts.trying import Tried, tried
from lakehold.web.marts.looking import grid
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/marts/new")
def new_form(request: Request, uid: str, storage: str = "", table: str = "") -> Response:
    """Where it draws from is chosen first; then the form for that."""
    looking.reading(request).run(lambda ctx: need_project(ctx, uid))
    return Form(request, uid).page(form.blank(storage, table))


@new.post("/{uid:path}/marts/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda ctx: need_project(ctx, uid))
    return _sent(Form(request, uid), sent)


@routes.get("/{uid:path}/mart/edit")
def edit_form(request: Request, uid: str, storage: str = "", choose: str = "") -> Response:
    """The form with what it says now; the address may say that it is to draw from elsewhere."""

    def present(ctx: RequestContext) -> tuple[Form, Filled]:
        found = need_edit(ctx, uid)
        hidden = bool(edge_targets(ctx, uid, "storage")) and not found.edges.get("storage")
        return Form(request, _within(found), found, drawn=hidden and not choose), form.present(ctx, found)

    shown, filled = looking.reading(request).run(present)
    return shown.page(replace(filled, storage="" if choose else storage or filled.storage))


@routes.post("/{uid:path}/mart/edit")
def edit(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and change it."""

    def present(ctx: RequestContext) -> tuple[Form, Filled]:
        found = need_edit(ctx, uid)
        return Form(request, _within(found), found, drawn=True), form.present(ctx, found)

    shown, was = looking.reading(request).run(present)
    filled = form.sent(sent)
    if shown.found is not None and sent.get("do") == "save" and filled.definition == was.definition:
        return _called(shown, shown.found.uid, filled)
    return _sent(shown, sent)


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller may make data marts there."""
    workspaces.need_workspace(ctx, uid)
    ctx.need("create_data_mart", uid)


def need_mart(ctx: RequestContext, uid: str) -> ResourceView:
    """The data mart, if the caller sees it."""
    found = resources.get(ctx, uid)
    if found.kind != DATA_MART_KIND:
        raise NotFoundError(f"There is no data mart {quote(uid)}.", "Look its name up in the project.")
    return found


def need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    """The data mart, if the caller may edit it."""
    found = need_mart(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


class Form:
    """The form as it is shown: for a new data mart in a project, or for one that is there."""

    def __init__(
        self, request: Request, within: str, found: ResourceView | None = None, *, drawn: bool = False
    ) -> None:
        self.request, self.within, self.found = request, within, found
        self.drawn = drawn
        """Whether it draws from a storage that whoever fills it in does not see: that stays so."""
        self.to = urls.resource(found.uid, "mart/edit") if found else urls.workspace(within, "marts/new")

    def page(
        self,
        filled: Filled,
        *,
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        trial: Tried | None = None,
    ) -> Response:
        """Show it, with all that was filled in."""
        offered = offers.of_storage(self.request, filled.storage) if filled.storage else offers.Offered()

        def page(ctx: RequestContext) -> Response:
            found = self.found
            values: dict[str, object] = {
                "crumbs": resource_header.breadcrumbs(
                    ctx, *((found.uid, "Edit") if found else (self.within, "New data mart"))
                ),
                "title": f"Edit {found.name}" if found else "New data mart",
                "to": self.to,
                "feed": urls.resource(found.uid, "mart/feed") if found else urls.workspace(self.within, "marts/fed"),
                "back": resource_header.overview_url(ctx, found.uid)
                if found
                else urls.workspace(self.within, "data_mart"),
                "filled": filled,
                "storages": offers.storages(ctx, self.within),
                "new_storage": offers.new_storage(ctx, self.within),
                "offered": offered,
                "drawn": self.drawn,
                "bys": [each for each in form.BYS if each[0] != "sql" or offered.sql],
                "modes": form.MODES_SAID,
                "marts": offers.marts(ctx, self.within, found.uid if found else ""),
                "trial": trial,
                "grid": grid(trial.seen) if trial else None,
                "errors": errors or {},
                "error": error,
                "is_new": found is None,
            }
            return pages.render(self.request, "marts/mart_form.html", values, status=422 if errors or error else 200)

        return looking.reading(self.request).run(page)


def _called(shown: Form, uid: str, filled: Filled) -> Response:
    """Only what it is called is changed: what its rows are is not tried again, nor need it be said by now."""
    if wrong := filled.name_errors():
        return shown.page(filled, errors=wrong)
    wanted, version = ResourceEdit(filled.name, filled.description), forms.whole(filled.version)
    try:
        looking.writing(shown.request).run(
            lambda ctx: resource_edit.apply_edit(ctx, uid, wanted, expect_version=version)
        )
    except forms.MENDED as refusal:
        return shown.page(filled, error=refusal)
    return pages.redirect(shown.request, urls.resource(uid, "mart"), Flash("Saved."))


def _sent(shown: Form, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = form.sent(sent), str(sent.get("do", ""))
    if do == "join":
        return shown.page(replace(filled, joins=[*filled.joins, Join()]))
    before = shown.found.settings if shown.found else None
    if filled.is_fed and (before or {}).get("by") != filled.by:
        raise InvalidInputError("What feeds a data mart is not said by this form.", "It has a form of its own.")
    if wrong := filled.errors(shown.found.uid if shown.found else ""):
        return shown.page(filled, errors=wrong)
    trial = tried(shown.request, filled, before)
    if trial.errors:
        return shown.page(filled, errors=dict(trial.errors), trial=trial if trial.seen.fields else None)
    if do == "try":
        return shown.page(filled, error=trial.no_worker, trial=None if trial.no_worker else trial)
    try:
        uid = looking.writing(shown.request).run(lambda ctx: _kept(ctx, shown, filled, trial.seen.reads))
    except forms.MENDED as refusal:
        return shown.page(filled, error=refusal)
    words = f"{filled.name} was made. Refresh it to draw its rows." if shown.found is None else "Saved."
    return pages.redirect(shown.request, urls.resource(uid, "mart"), Flash(words))


def _kept(ctx: RequestContext, shown: Form, filled: Filled, reads: Sequence[str]) -> str:
    seen = [ref.uid for ref in VisibleRefs(ctx).refs(reads)]
    if shown.found is None:
        edges = {"project": shown.within, **filled.edges()}
        settings = {**filled.settings(), "reads": seen}
        return resources.create(
            ctx, DATA_MART_KIND, filled.name, edges=edges, settings=settings, description=filled.description
        )
    uid, before = shown.found.uid, shown.found.settings or {}
    settings = {**filled.settings(before, joins.unseen(ctx, before)), "reads": seen}
    wanted = ResourceEdit(filled.name, filled.description, settings, edges=filled.edges())
    resource_edit.apply_edit(ctx, uid, wanted, expect_version=forms.whole(filled.version))
    return uid


def _within(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""
