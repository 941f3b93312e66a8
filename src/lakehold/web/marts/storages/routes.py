"""The form of a storage: a new one, and changing it. Its connection is tried before it is kept."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.frame.works import House, Reading
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.shapes import Resource
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import shown
from lakehold.web import addresses, pages
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.reaching import within
from lakehold.web.lakehouse.sources import looking, sealed
from lakehold.web.marts import reaching
from lakehold.web.marts.looking import Looked, look
from lakehold.web.marts.storages import form
from lakehold.web.marts.storages.form import Filled
from lakehold.web.routes import Sent, router
from lakehold.web.words import counted
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.marts.nouns import STORAGE
from lakehold.workspaces.marts.storages import Look

new = router("/workspaces")
routes = router("/resources")

_LAKEHOUSE, _MOST = "lakehouse.lakehouse", 200


@new.get("/{uid:path}/storages/new")
def new_form(request: Request, work: Reading, uid: str, kind: str = "") -> Response:
    """What it is comes first; then the form for that."""
    need_project(work, uid)
    return Form(request, uid).page(work, form.blank(kind))


@new.post("/{uid:path}/storages/new")
def make(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda work: need_project(work, uid))
    return _sent(Form(request, uid), house, sent)


@routes.get("/{uid:path}/storage/edit")
def edit_form(request: Request, work: Reading, uid: str, kind: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = _need_edit(work, uid)
    return Form(request, within(found), found).page(work, form.present(found, kind))


@routes.post("/{uid:path}/storage/edit")
def edit(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda work: _need_edit(work, uid))
    return _sent(Form(request, within(found), found), house, sent)


def need_project(work: Work, uid: str) -> None:
    """Refuse unless the caller may make storages there."""
    workspaces.need_workspace(work, uid)
    work.need_draft(Draft(STORAGE, {"project": uid}))


def need_storage(work: Work, uid: str) -> Resource:
    """The storage, if the caller sees it."""
    found = resources.get(work, uid)
    if found.kind != STORAGE:
        raise NotFoundError(f"There is no storage {shown(uid)}.", "Look its name up in the project.")
    return found


class Form(reaching.Form[Filled]):
    """Of a storage."""

    kind, template = STORAGE, "marts/storage_form.html"

    def about(self, work: Work) -> dict[str, object]:
        """What only this form has."""
        return {"kinds": form.KINDS, "lakehouses": _lakehouses(work)}


def _sent(shown: Form, house: Installation, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = form.sent(sent), str(sent.get("do", ""))
    secret, kept = sealed.filled(house, looking.reading(shown.request).run(lambda work: work.caller), sent)
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
    return pages.go(shown.request, addresses.resource(uid, "storage"), Flash(words))


def _tried(shown: Form, filled: Filled, secrets: dict[str, str]) -> Looked:
    if shown.found is None:
        return look(shown.request, Look("", shown.within, filled.settings(), secrets))
    return look(shown.request, Look(shown.found.uid, "", filled.settings(shown.found.settings), secrets))


def _said(filled: Filled, looked: Looked) -> str:
    if looked.seen.notes:
        return looked.seen.notes[0]
    noun = "file" if filled.kind == In.FILES else "table"
    return f"It can be reached: {counted(len(looked.seen.tables), noun)} found."


def _need_edit(work: Work, uid: str) -> Resource:
    found = need_storage(work, uid)
    kinds.need(work, work.session.asking(lambda view: kinds.editing(view, uid)), uid, "edit")
    return found


def _lakehouses(work: Work) -> list[tuple[str, str]]:
    sight = work.view.policy.kind(_LAKEHOUSE).schema.visible
    found = work.session.list(work.asker, sight, _LAKEHOUSE, limit=_MOST).items
    return [(item.uid, item.name) for item in found]
