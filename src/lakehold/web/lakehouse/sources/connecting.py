"""The connection of a source: the first step to a new one, and changing it later. It is tried before it is kept."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.frame.works import House, Reading
from lakehold.catalog import credentials, editing, kinds, resources
from lakehold.catalog.editing import Edit
from lakehold.catalog.shapes import Resource
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.pipelines import need_lakehouse
from lakehold.web.lakehouse.sources import apis, connection, looking, sealed, steps, tables, troubles
from lakehold.web.lakehouse.sources.connection import Connection
from lakehold.web.routes import Sent, router
from lakehold.web.words import counted
from lakehold.workspaces.lakehouse import sources, volumes

new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/pipelines/new/source")
def new_form(request: Request, work: Reading, uid: str, connector: str = "", layer: str = "") -> Response:
    """What it reads from is chosen first; then the form for that."""
    need_lakehouse(work, uid)
    return Form(request, uid).page(work, connection.blank(connector, layer))


@new.post("/{uid:path}/pipelines/new/source")
def make(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and make it if it could be connected to."""
    looking.reading(request).run(lambda work: need_lakehouse(work, uid))
    return _sent(Form(request, uid), house, sent)


@routes.get("/{uid:path}/connection")
def edit_form(request: Request, work: Reading, uid: str, connector: str = "") -> Response:
    """The form with what it says now, without its secrets."""
    found = need_source(work, uid)
    return Form(request, _within(found), found).page(work, connection.present(found, connector))


@routes.post("/{uid:path}/connection")
def edit(request: Request, house: House, uid: str, sent: Sent) -> Response:
    """Try it, and change it."""
    found = looking.reading(request).run(lambda work: need_source(work, uid))
    return _sent(Form(request, _within(found), found), house, sent)


def need_source(work: Work, uid: str) -> Resource:
    """The source, if the caller may edit it."""
    found = resources.get(work, uid)
    if found.kind != sources.KIND:
        title = kinds.kept_here(work.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} has no connection.", "Choose a source.")
    kinds.need(work, work.session.asking(lambda view: kinds.editing(view, uid)), uid, "edit")
    return found


class Form:
    """The form as it is shown: for a new source in a lakehouse, or for one that is there."""

    def __init__(self, request: Request, within: str, found: Resource | None = None) -> None:
        self.request, self.within, self.found = request, within, found
        self.setup = found is None or bool(request.query_params.get("setup"))

    def page(
        self,
        work: Work,
        filled: Connection,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Show it, with all that was filled in but the secret."""
        uid = self.found.uid if self.found else ""
        last = "Connection" if uid else "New source"
        at = tables.targets(work, self.within)
        values: dict[str, object] = {
            "crumbs": acting.crumbs(work, uid or self.within, last),
            "title": f"Connection of {self.found.name}" if self.found else "New source",
            "steps": steps.steps(steps.CONNECT, uid) if self.setup else [],
            "to": self._to(),
            "back": acting.home_of(work, uid) if uid else addresses.workspace(self.within, "pipelines"),
            "connectors": connection.CONNECTORS,
            "filled": filled,
            "layers": [(each, name) for name, each in at.layers.items()],
            "volumes": _volumes(work, self.within),
            "has_secret": bool(kept) or filled.credential in self.secrets(work),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": error is not None and troubles.is_no_worker(error),
            "said": said,
            "is_new": not uid,
            "setup": self.setup,
        }
        return pages.page(self.request, "lakehouse/connection.html", values, status=422 if errors or error else 200)

    def secrets(self, work: Work) -> list[str]:
        """The names of the secrets that are kept."""
        return credentials.names(work, self.found.uid) if self.found else []

    def _to(self) -> str:
        if self.found is None:
            return addresses.workspace(self.within, "pipelines/new/source")
        return steps.page(self.found.uid, steps.CONNECT, setup=self.setup)


def _sent(form: Form, house: Installation, sent: FormData) -> Response:
    """What becomes of a form: shown again, tried, or kept."""
    filled, do = connection.sent(sent), str(sent.get("do", ""))
    reading = looking.reading(form.request)
    secret, kept = sealed.filled(house, reading.run(lambda work: work.caller), sent)
    if do == "more":
        longer = replace(filled, endpoints=[*filled.endpoints, dict.fromkeys(apis.PARTS, "")])
        return reading.run(lambda work: form.page(work, longer, kept=kept))
    known = reading.run(form.secrets)
    if wrong := filled.errors(has_secret=bool(secret) or filled.credential in known):
        return reading.run(lambda work: form.page(work, filled, kept=kept, errors=wrong))
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        seen = _tried(form, filled, secrets)
        if (refused := seen.error) is not None:
            place = troubles.at(refused, filled)
            errors, error = ({place: str(refused)}, None) if place else (None, refused)
            return reading.run(lambda work: form.page(work, filled, kept=kept, errors=errors, error=error))
        if do == "test":
            said = f"It can be reached: {counted(len(seen.streams), 'stream')} found."
            return reading.run(lambda work: form.page(work, filled, kept=kept, said=said))
    try:
        uid = looking.writing(form.request).run(lambda work: _kept(work, form, filled, secrets))
    except forms.MENDED as refusal:
        told = refusal
        return reading.run(lambda work: form.page(work, filled, kept=kept, error=told))
    if form.setup:
        return pages.go(form.request, steps.at(uid, steps.STREAMS), Flash(f"{filled.name} is connected."))
    return pages.go(form.request, addresses.resource(uid, "pipeline"), Flash("Saved. It is so from the next run on."))


def _tried(form: Form, filled: Connection, secrets: dict[str, str]) -> looking.Seen:
    there = {"source": form.found.uid} if form.found else {"lakehouse": form.within, "layer": filled.layer}
    before = form.found.settings if form.found else None
    return looking.look(form.request, {**there, "settings": filled.settings(before), "secrets": secrets})


def _kept(work: Work, form: Form, filled: Connection, secrets: dict[str, str]) -> str:
    if form.found is None:
        uid = resources.create(
            work,
            sources.KIND,
            filled.name,
            edges={"lakehouse": form.within, "into": filled.layer},
            settings=filled.settings(),
            description=filled.description,
        )
    else:
        uid = form.found.uid
        settings = filled.settings(form.found.settings)
        wanted = Edit(filled.name, filled.description, settings, edges={"into": [filled.layer]})
        editing.edit(work, uid, wanted, expect_version=forms.whole(filled.version))
    if secrets:
        credentials.put(work, uid, secrets)
    return uid


def _volumes(work: Work, within: str) -> list[tuple[str, str]]:
    found = work.session.list(work.asker, "read", volumes.KIND, within=within, limit=tables.MOST).items
    return tables.named(work, found)


def _within(found: Resource) -> str:
    return found.workspace.uid if found.workspace else ""
