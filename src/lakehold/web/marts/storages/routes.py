"""The form of a storage: a new one, and changing it. Its connection is tried before it is kept."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.frame.works import House, Reading
from lakehold.catalog import credentials, editing, kinds, resources, workspaces
from lakehold.catalog.editing import Edit
from lakehold.catalog.shapes import Resource
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import shown
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking, sealed
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.marts.looking import Looked, look
from lakehold.web.marts.storages import form
from lakehold.web.marts.storages.form import Filled
from lakehold.web.routes import Sent, router
from lakehold.web.words import counted
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.marts.storages import KIND, Look

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
    return Form(request, _within(found), found).page(work, form.present(found, kind))


@routes.post("/{uid:path}/storage/edit")
def edit(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda work: _need_edit(work, uid))
    return _sent(Form(request, _within(found), found), house, sent)


def need_project(work: Work, uid: str) -> None:
    """Refuse unless the caller may make storages there."""
    workspaces.need_workspace(work, uid)
    work.need_draft(Draft(KIND, {"project": uid}))


def need_storage(work: Work, uid: str) -> Resource:
    """The storage, if the caller sees it."""
    found = resources.get(work, uid)
    if found.kind != KIND:
        raise NotFoundError(f"There is no storage {shown(uid)}.", "Look its name up in the project.")
    return found


class Form:
    """The form as it is shown: for a new storage in a project, or for one that is there."""

    def __init__(self, request: Request, within: str, found: Resource | None = None) -> None:
        self.request, self.within, self.found = request, within, found
        self.to = (
            addresses.resource(found.uid, "storage/edit") if found else addresses.workspace(within, "storages/new")
        )

    def page(
        self,
        work: Work,
        filled: Filled,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Show it, with all that was filled in but the secret."""
        found = self.found
        values: dict[str, object] = {
            "crumbs": acting.crumbs(work, found.uid, "Edit")
            if found
            else acting.crumbs(work, self.within, "New storage"),
            "title": f"Edit {found.name}" if found else "New storage",
            "to": self.to,
            "back": acting.home_of(work, found.uid) if found else addresses.workspace(self.within, "storage"),
            "kinds": form.KINDS,
            "filled": filled,
            "lakehouses": _lakehouses(work),
            "has_secret": bool(kept) or filled.credential in self.secrets(work),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": error is not None and is_no_worker(error),
            "said": said,
            "is_new": found is None,
        }
        return pages.page(self.request, "marts/storage_form.html", values, status=422 if errors or error else 200)

    def secrets(self, work: Work) -> list[str]:
        """The names of the secrets that are kept."""
        return credentials.names(work, self.found.uid) if self.found else []


def _sent(shown: Form, house: Installation, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do, reading = form.sent(sent), str(sent.get("do", "")), looking.reading(shown.request)
    secret, kept = sealed.filled(house, reading.run(lambda work: work.caller), sent)
    if wrong := filled.errors():
        return reading.run(lambda work: shown.page(work, filled, kept=kept, errors=wrong))
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        looked = _tried(shown, filled, secrets)
        if (refused := looked.error) is not None:
            place = form.trouble_at(refused, filled)
            errors, error = ({place: str(refused)}, None) if place else (None, refused)
            return reading.run(lambda work: shown.page(work, filled, kept=kept, errors=errors, error=error))
        if do == "test":
            said = _said(filled, looked)
            return reading.run(lambda work: shown.page(work, filled, kept=kept, said=said))
    try:
        uid = looking.writing(shown.request).run(lambda work: _kept(work, shown, filled, secrets))
    except forms.MENDED as refusal:
        told = refusal
        return reading.run(lambda work: shown.page(work, filled, kept=kept, error=told))
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


def _kept(work: Work, shown: Form, filled: Filled, secrets: dict[str, str]) -> str:
    if shown.found is None:
        edges = {"project": shown.within}
        uid = resources.create(
            work, KIND, filled.name, edges=edges, settings=filled.settings(), description=filled.description
        )
    else:
        uid = shown.found.uid
        wanted = Edit(filled.name, filled.description, filled.settings(shown.found.settings))
        editing.edit(work, uid, wanted, expect_version=forms.whole(filled.version))
    if secrets:
        credentials.put(work, uid, dict(secrets))
    return uid


def _need_edit(work: Work, uid: str) -> Resource:
    found = need_storage(work, uid)
    kinds.need(work, work.session.asking(lambda view: kinds.editing(view, uid)), uid, "edit")
    return found


def _lakehouses(work: Work) -> list[tuple[str, str]]:
    sight = work.view.policy.kind(_LAKEHOUSE).schema.visible
    found = work.session.list(work.asker, sight, _LAKEHOUSE, limit=_MOST).items
    return [(item.uid, item.name) for item in found]


def _within(found: Resource) -> str:
    return found.workspace.uid if found.workspace else ""
