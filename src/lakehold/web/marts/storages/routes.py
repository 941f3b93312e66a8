"""The form of a storage: a new one, and changing it. Its connection is tried before it is kept."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.reaching import within
from lakehold.web.lakehouse.sources import looking, sealed
from lakehold.web.marts import reaching
from lakehold.web.marts.looking import Looked, look
from lakehold.web.marts.storages import form
from lakehold.web.marts.storages.form import Filled
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.definitions import StorageType
from lakehold.workspaces.marts.mart_kinds import STORAGE_KIND
from lakehold.workspaces.marts.storages import StorageProbeTarget

new = router("/workspaces")
routes = router("/resources")

_LAKEHOUSE, _MOST = "lakehouse.lakehouse", 200


@new.get("/{uid:path}/storages/new")
def new_form(request: Request, ctx: ReadContext, uid: str, kind: str = "") -> Response:
    """What it is comes first; then the form for that."""
    need_project(ctx, uid)
    return Form(request, uid).page(ctx, form.blank(kind))


@new.post("/{uid:path}/storages/new")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda ctx: need_project(ctx, uid))
    return _sent(Form(request, uid), platform, sent)


@routes.get("/{uid:path}/storage/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str, kind: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = _need_edit(ctx, uid)
    return Form(request, within(found), found).page(ctx, form.present(found, kind))


@routes.post("/{uid:path}/storage/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda ctx: _need_edit(ctx, uid))
    return _sent(Form(request, within(found), found), platform, sent)


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller may make storages there."""
    workspaces.need_workspace(ctx, uid)
    ctx.need_draft(Draft(STORAGE_KIND, {"project": uid}))


def need_storage(ctx: RequestContext, uid: str) -> ResourceView:
    """The storage, if the caller sees it."""
    found = resources.get(ctx, uid)
    if found.kind != STORAGE_KIND:
        raise NotFoundError(f"There is no storage {quote(uid)}.", "Look its name up in the project.")
    return found


class Form(reaching.Form[Filled]):
    """Of a storage."""

    kind, template = STORAGE_KIND, "marts/storage_form.html"

    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""
        return {"kinds": form.KINDS, "lakehouses": _lakehouses(ctx)}


def _sent(shown: Form, platform: Platform, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = form.sent(sent), str(sent.get("do", ""))
    secret, kept = sealed.filled(platform, looking.reading(shown.request).run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors():
        return shown.again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        looked = _tried(shown, filled, secrets)
        if looked.error is not None:
            return shown.refused(filled, kept, looked.error, form.trouble_at(looked.error, filled))
        if do == "test":
            return shown.again(filled, kept, said=_said(filled, looked))
    try:
        uid = shown.keep(filled, secrets)
    except forms.MENDED as refusal:
        return shown.refused(filled, kept, refusal)
    words = f"{filled.name} was made." if shown.found is None else "Saved."
    return pages.redirect(shown.request, urls.resource(uid, "storage"), Flash(words))


def _tried(shown: Form, filled: Filled, secrets: dict[str, str]) -> Looked:
    if shown.found is None:
        return look(shown.request, StorageProbeTarget("", shown.within, filled.settings(), secrets))
    return look(shown.request, StorageProbeTarget(shown.found.uid, "", filled.settings(shown.found.settings), secrets))


def _said(filled: Filled, looked: Looked) -> str:
    if looked.seen.notes:
        return looked.seen.notes[0]
    noun = "file" if filled.kind == StorageType.FILES else "table"
    return f"It can be reached: {format_count(len(looked.seen.tables), noun)} found."


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_storage(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _lakehouses(ctx: RequestContext) -> list[tuple[str, str]]:
    sight = ctx.view.policy.kind(_LAKEHOUSE).schema.visible
    found = ctx.session.list(ctx.asker, sight, _LAKEHOUSE, limit=_MOST).items
    return [(item.uid, item.name) for item in found]
