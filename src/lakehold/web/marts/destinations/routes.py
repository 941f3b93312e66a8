"""New destinations, and changing them. One is tried out before it is kept, and can be at any time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

from lakehold.api.frame.works import House, Reading, house_of
from lakehold.catalog import credentials, editing, kinds, resources, workspaces
from lakehold.catalog.editing import Edit
from lakehold.catalog.shapes import Resource
from lakehold.directory.caller import Caller
from lakehold.directory.work import Work
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import shown
from lakehold.runs import asking
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.deliveries import troubles, ways
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking, sealed
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.marts.destinations import destination
from lakehold.web.marts.destinations.destination import Destination
from lakehold.web.routes import Sent, router
from lakehold.workspaces.marts import destinations

new = router("/workspaces")
routes = router("/resources")

_PROJECT = "marts.project"


@new.get("/{uid:path}/destinations/new")
def new_form(request: Request, work: Reading, uid: str, to: str = "") -> Response:
    """How it sends is chosen first; then the form for that."""
    need_project(work, uid)
    return Form(request, uid).page(work, destination.blank(to))


@new.post("/{uid:path}/destinations/new")
def make(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Make it, or try it first."""
    looking.reading(request).run(lambda work: need_project(work, uid))
    return _sent(Form(request, uid), house, sent)


@routes.get("/{uid:path}/destination/edit")
def edit_form(request: Request, work: Reading, uid: str, to: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = need_edit(work, uid)
    return Form(request, _within(found), found).page(work, destination.present(found, to))


@routes.post("/{uid:path}/destination/edit")
def edit(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Change it, or try it first."""
    found = looking.reading(request).run(lambda work: need_edit(work, uid))
    return _sent(Form(request, _within(found), found), house, sent)


@routes.post("/{uid:path}/destination/try")
def try_out(request: Request, uid: str) -> Response:
    """Try it as it is kept."""
    found = looking.reading(request).run(lambda work: need_edit(work, uid))
    asked = {"destination": uid, "project": _within(found), "settings": dict(found.settings or {})}
    said, refused = _tried(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.go(request, views.home(uid, destinations.KIND), flash)


class Form:
    """The form as it is shown: for a new one in a project, or for one that is there."""

    def __init__(self, request: Request, within: str, found: Resource | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    def page(
        self,
        work: Work,
        filled: Destination,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Show it, with all that was filled in but the secret."""
        uid = self.found.uid if self.found else ""
        values: dict[str, object] = {
            "crumbs": acting.crumbs(work, uid or self.within, "Edit" if uid else "New destination"),
            "title": f"Edit {self.found.name}" if self.found else "New destination",
            "to": self._to(),
            "back": acting.home_of(work, uid) if uid else addresses.workspace(self.within, "destination"),
            "ways": destination.WAYS,
            "modes": ways.MODES,
            "shapes": ways.SHAPES,
            "filled": filled,
            "has_secret": bool(kept) or self.has_secret(work, filled),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": error is not None and is_no_worker(error),
            "said": said,
            "is_new": not uid,
        }
        return pages.page(self.request, "marts/destination_form.html", values, status=422 if errors or error else 200)

    def has_secret(self, work: Work, filled: Destination) -> bool:
        """Whether one is kept."""
        return self.found is not None and filled.credential in credentials.names(work, self.found.uid)

    def _to(self) -> str:
        if self.found is None:
            return addresses.workspace(self.within, "destinations/new")
        return addresses.resource(self.found.uid, "destination/edit")


def need_project(work: Work, uid: str) -> None:
    """Refuse what is no project of marts."""
    workspaces.need_workspace(work, uid)
    if kinds.schema_of(work.view, uid).id != _PROJECT:
        raise NotFoundError(f"There is no project {shown(uid)}.", "Look its name up among the workspaces.")


def need_destination(work: Work, uid: str) -> Resource:
    """The destination, as the caller may see it."""
    found = resources.get(work, uid)
    if found.kind != destinations.KIND:
        raise NotFoundError(f"There is no destination {shown(uid)}.", "Look its name up in the project.")
    return found


def need_edit(work: Work, uid: str) -> Resource:
    """The destination, if the caller may change it."""
    found = need_destination(work, uid)
    work.need("edit", uid)
    return found


def _sent(form: Form, house: House, sent: Sent) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, reading = destination.sent(sent), looking.reading(form.request)
    secret, kept = sealed.filled(house, reading.run(lambda work: work.caller), sent)
    has_secret = bool(secret) or reading.run(lambda work: form.has_secret(work, filled))
    if wrong := filled.errors(has_secret=has_secret):
        return reading.run(lambda work: form.page(work, filled, kept=kept, errors=wrong))
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if str(sent.get("do", "")) == "test":
        said, refused = _tried(form.request, _asked(form, filled, secrets))
        place = troubles.at(refused, filled) if refused else ""
        errors, error = ({place: str(refused)}, None) if place else (None, refused)
        return reading.run(lambda work: form.page(work, filled, kept=kept, errors=errors, error=error, said=said))
    try:
        uid = looking.writing(form.request).run(lambda work: _kept(work, form, filled, secrets))
    except forms.MENDED as refusal:
        told = refusal
        return reading.run(lambda work: form.page(work, filled, kept=kept, error=told))
    said = "Saved. It is so from the next report on." if form.found else f"{filled.name} was made."
    return pages.go(form.request, views.home(uid, destinations.KIND), Flash(said))


def _asked(form: Form, filled: Destination, secrets: dict[str, str]) -> dict[str, Any]:
    there = {"destination": form.found.uid} if form.found else {}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "project": form.within, "settings": settings, "secrets": secrets}


def _tried(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """What was found, or what is wrong. Whether the caller may is neither: it is refused."""

    def let_in(work: Work) -> Caller:
        destinations.may_try(work, str(asked.get("destination", "")), str(asked["project"]))
        return work.caller

    caller = looking.reading(request).run(let_in)
    try:
        return asking.try_out(house_of(request), caller, asked), None
    except LakeholdError as error:
        return "", error


def _kept(work: Work, form: Form, filled: Destination, secrets: dict[str, str]) -> str:
    if form.found is None:
        edges, settings, words = {"project": form.within}, filled.settings(), filled.description
        uid = resources.create(work, destinations.KIND, filled.name, edges=edges, settings=settings, description=words)
    else:
        uid = form.found.uid
        wanted = Edit(filled.name, filled.description, filled.settings(form.found.settings))
        editing.edit(work, uid, wanted, expect_version=forms.whole(filled.version))
    if secrets:
        credentials.put(work, uid, secrets)
    return uid


def _within(found: Resource) -> str:
    return found.workspace.uid if found.workspace else ""
