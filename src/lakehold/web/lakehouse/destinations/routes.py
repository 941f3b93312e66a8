"""New destinations, and changing them. One is tried out before it is kept, and can be at any time."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.frame.works import House, Reading
from lakehold.catalog import credentials, editing, kinds, resources
from lakehold.catalog.editing import Edit
from lakehold.catalog.shapes import Resource
from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.deliveries import troubles, ways
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.destinations import delivery, trying
from lakehold.web.lakehouse.destinations.delivery import Delivery
from lakehold.web.lakehouse.pipelines import need_lakehouse
from lakehold.web.lakehouse.sources import looking, sealed, tables
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.routes import Sent, router
from lakehold.workspaces.lakehouse import destinations, volumes

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/destination")
def new_form(request: Request, work: Reading, uid: str, to: str = "", table: str = "") -> Response:
    """How it sends is chosen first; then the form for that. The address may say what is sent."""
    need_lakehouse(work, uid)
    return Form(request, uid).page(work, delivery.blank(to, [table] if table else []))


@new.post("/{uid:path}/pipelines/new/destination")
def make(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and make it."""
    looking.reading(request).run(lambda work: need_lakehouse(work, uid))
    return _sent(Form(request, uid), house, sent)


@routes.get("/{uid:path}/delivery")
def edit_form(request: Request, work: Reading, uid: str, to: str = "") -> Response:
    """The form with what it says now, without its secret."""
    found = _need(work, uid)
    return Form(request, _within(found), found).page(work, delivery.present(found, to))


@routes.post("/{uid:path}/delivery")
def edit(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda work: _need(work, uid))
    return _sent(Form(request, _within(found), found), house, sent)


@routes.post("/{uid:path}/delivery/try")
def try_out(request: Request, uid: str) -> Response:
    """Try it as it is kept."""
    found = looking.reading(request).run(lambda work: _need(work, uid))
    filled = delivery.present(found)
    asked = {"destination": uid, "settings": dict(found.settings or {}), "volume": filled.volume}
    said, refused = trying.tried(request, asked)
    flash = Flash(said) if refused is None else Flash(str(refused), tone="bad")
    return pages.go(request, addresses.resource(uid, "pipeline"), flash)


class Form:
    """The form as it is shown: for a new one in a lakehouse, or for one that is there."""

    def __init__(self, request: Request, within: str, found: Resource | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    def page(
        self,
        work: Work,
        filled: Delivery,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Show it, with all that was filled in but the secret."""
        uid = self.found.uid if self.found else ""
        last = "Delivery" if uid else "New destination"
        writable = work.session.list(work.asker, "write", volumes.KIND, within=self.within, limit=tables.MOST).items
        values: dict[str, object] = {
            "crumbs": acting.crumbs(work, uid or self.within, last),
            "title": f"Delivery of {self.found.name}" if self.found else "New destination",
            "to": self._to(),
            "back": acting.home_of(work, uid) if uid else addresses.workspace(self.within, "pipelines"),
            "ways": delivery.WAYS,
            "modes": ways.MODES,
            "shapes": ways.SHAPES,
            "filled": filled,
            "reads": forms.options(work, self.within).reads,
            "volumes": tables.named(work, writable),
            "has_secret": bool(kept) or (bool(uid) and filled.credential in credentials.names(work, uid)),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": error is not None and is_no_worker(error),
            "said": said,
            "is_new": not uid,
        }
        return pages.page(self.request, "lakehouse/delivery.html", values, status=422 if errors or error else 200)

    def _to(self) -> str:
        if self.found is None:
            return addresses.workspace(self.within, "pipelines/new/destination")
        return addresses.resource(self.found.uid, "delivery")


def _sent(form: Form, house: House, sent: Sent) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = delivery.sent(sent), str(sent.get("do", ""))
    reading = looking.reading(form.request)
    secret, kept = sealed.filled(house, reading.run(lambda work: work.caller), sent)
    if wrong := filled.errors():
        return reading.run(lambda work: form.page(work, filled, kept=kept, errors=wrong))
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do == "test":
        said, refused = trying.tried(form.request, _asked(form, filled, secrets))
        if refused is not None:
            place = troubles.at(refused, filled)
            errors, error = ({place: str(refused)}, None) if place else (None, refused)
            return reading.run(lambda work: form.page(work, filled, kept=kept, errors=errors, error=error))
        return reading.run(lambda work: form.page(work, filled, kept=kept, said=said))
    try:
        uid = looking.writing(form.request).run(lambda work: _kept(work, form, filled, secrets))
    except forms.MENDED as refusal:
        told = refusal
        return reading.run(lambda work: form.page(work, filled, kept=kept, error=told))
    said = "Saved. It is so from the next run on." if form.found else f"{filled.name} was made. Run it to send."
    return pages.go(form.request, addresses.resource(uid, "pipeline"), Flash(said))


def _asked(form: Form, filled: Delivery, secrets: dict[str, str]) -> dict[str, object]:
    there = {"destination": form.found.uid} if form.found else {"lakehouse": form.within}
    settings = filled.settings(form.found.settings if form.found else None)
    return {**there, "settings": settings, "reads": list(filled.reads), "volume": filled.volume, "secrets": secrets}


def _kept(work: Work, form: Form, filled: Delivery, secrets: dict[str, str]) -> str:
    if form.found is None:
        edges = {"lakehouse": form.within, **filled.edges()}
        settings, words = filled.settings(), filled.description
        uid = resources.create(work, destinations.KIND, filled.name, edges=edges, settings=settings, description=words)
    else:
        uid = form.found.uid
        settings = filled.settings(form.found.settings)
        wanted = Edit(filled.name, filled.description, settings, edges=filled.edges())
        editing.edit(work, uid, wanted, expect_version=forms.whole(filled.version))
    if secrets:
        credentials.put(work, uid, secrets)
    return uid


def _need(work: Work, uid: str) -> Resource:
    found = resources.get(work, uid)
    if found.kind != destinations.KIND:
        title = kinds.kept_here(work.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} delivers nothing.", "Choose a destination.")
    kinds.need(work, work.session.asking(lambda view: kinds.editing(view, uid)), uid, "edit")
    return found


def _within(found: Resource) -> str:
    return found.workspace.uid if found.workspace else ""
