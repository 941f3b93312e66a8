"""The form of a data mart that a connector feeds, and its pages. The connection is tested before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, get_platform, read_transaction
from lakehold.catalog.resource_view import ResourceView
from lakehold.connectors.sources.settings import SyncMode
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages, urls
from lakehold.web.connections import connector_fields, form_page, source_form
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.connections.probe import SourceProbe
from lakehold.web.connections.source_form import SourceForm
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, split_names
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND
from lakehold.workspaces.marts.mart_probe import FeedProbeTarget
from lakehold.workspaces.marts.pages import page_frame, storage_probe
from lakehold.workspaces.marts.pages.data_marts import data_mart_form
from lakehold.workspaces.marts.pages.data_marts.form_pages import need_edit, need_project
from lakehold.workspaces.marts.pages.storage_probe import probe_grid
from lakehold.workspaces.marts.settings import (
    CONNECTORS,
    DefinitionType,
    parse_definition,
)

CONNECTOR_KINDS = source_form.connector_choices(
    {word: about for word, about in source_form.CONNECTOR_HINTS.items() if word in CONNECTORS}
)
_OTHER_DEFINITIONS = (DefinitionType.SQL.value, DefinitionType.TABLE.value, DefinitionType.PATTERN.value, "reads")
"""What a definition of another sort says."""


@dataclass(frozen=True, slots=True)
class ConnectorForm:
    """The values of the form: the connection of the source, and what is read from it."""

    reach: SourceForm = field(default_factory=SourceForm)
    storage: str = ""
    stream: str = ""
    mode: str = "full"
    keys: str = ""
    cursor: str = ""

    @property
    def connector(self) -> str:
        """The connector."""
        return self.reach.connector

    @property
    def name(self) -> str:
        """The name of the data mart."""
        return self.reach.name

    @property
    def description(self) -> str:
        """The description of the data mart."""
        return self.reach.description

    @property
    def version(self) -> str:
        """The version that the form was rendered with."""
        return self.reach.version

    @property
    def credential(self) -> str:
        """The name of the secret that it needs, or an empty string."""
        return self.reach.credential

    @property
    def endpoints(self) -> Sequence[connector_fields.Endpoint]:
        """The endpoints of an API."""
        return self.reach.endpoints

    @property
    def fields(self) -> Mapping[str, str]:
        """The form fields by setting."""
        return {**self.reach.fields, **{name: name for name in ("storage", "stream", "mode", "keys", "cursor")}}

    def text(self, name: str) -> str:
        """Return the text of a field of the connection."""
        return self.reach.text(name)

    def edges(self) -> EdgeTargets:
        """Return the storage that it belongs to, if it is set."""
        return {"storage": self.storage} if self.storage else {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged."""
        was = {name: value for name, value in (before or {}).items() if name not in _OTHER_DEFINITIONS}
        settings: dict[str, object] = {"by": DefinitionType.CONNECTOR.value, "stream": self.stream, "mode": self.mode}
        settings |= {"keys": split_names(self.keys), "cursor": self.cursor if self.mode == "incremental" else ""}
        return {**self.reach.settings(was), **settings}

    def errors(self, *, has_secret: bool, is_new: bool) -> dict[str, str]:
        """Return the errors by field. An existing data mart may have a storage that its editor does not see."""
        found = self.reach.connection_errors(has_secret=has_secret)
        if is_new and not self.storage:
            found["storage"] = "Select a storage."
        if self.mode in {"merge", "mirror"} and not split_names(self.keys):
            found["keys"] = "Enter the key fields."
        if self.mode == "incremental" and not self.cursor:
            found["cursor"] = "Enter the cursor field."
        return found


def parse_connector_form(form: FormData) -> ConnectorForm:
    """Parse a submitted form. The only endpoint of an API is the stream."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    reach, mode = source_form.parse_source_form(form), text("mode")
    only = reach.endpoints[0]["name"] if len(reach.endpoints) == 1 else ""
    return ConnectorForm(
        reach,
        text("storage"),
        text("stream") or only,
        mode if mode in set(SyncMode) else "full",
        text("keys"),
        text("cursor"),
    )


def blank_connector_form(connector: str, storage: str) -> ConnectorForm:
    """Return an empty form for a connector."""
    return ConnectorForm(source_form.blank_source_form(connector if connector in CONNECTORS else ""), storage)


def connector_form_from_resource(found: ResourceView, connector: str = "") -> ConnectorForm:
    """Return the form for an existing data mart. `connector` applies if it has none yet."""
    settings = found.settings or {}
    keys, mode = settings.get("keys"), str(settings.get("mode", ""))
    return ConnectorForm(
        source_form.source_form_from_resource(found, connector if connector in CONNECTORS else ""),
        next((end.uid for end in found.edges.get("storage", ())), ""),
        str(settings.get("stream", "")),
        mode if mode in set(SyncMode) else "full",
        ", ".join(map(str, keys)) if isinstance(keys, list) else "",
        str(settings.get("cursor", "")),
    )


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/marts/fed")
def new_form(request: Request, ctx: ReadContext, uid: str, connector: str = "", storage: str = "") -> Response:
    """Render the form for a new data mart. The connector is chosen first."""
    need_project(ctx, uid)
    return ConnectorFormPage(request, uid).render(ctx, blank_connector_form(connector, storage))


@new.post("/{uid:path}/marts/fed")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and create the data mart."""
    read_transaction(request).run(lambda ctx: need_project(ctx, uid))
    return _submit_form(ConnectorFormPage(request, uid), platform, sent)


@routes.get("/{uid:path}/mart/feed")
def edit_form(request: Request, ctx: ReadContext, uid: str, connector: str = "") -> Response:
    """Render the form of an existing data mart, without its secrets."""
    found = need_edit(ctx, uid)
    return ConnectorFormPage(request, workspace_id(found), found).render(
        ctx, connector_form_from_resource(found, connector)
    )


@routes.post("/{uid:path}/mart/feed")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and save the data mart."""
    found = read_transaction(request).run(lambda ctx: need_edit(ctx, uid))
    return _submit_form(ConnectorFormPage(request, workspace_id(found), found), platform, sent)


class ConnectorFormPage(page_frame.ProjectFormPage[ConnectorForm]):
    """The form page of a data mart that a connector feeds."""

    kind, template = DATA_MART_KIND, "marts/feed_form.html"
    probe_result = SourceProbe()
    """What a trial has found."""

    @property
    def action_url(self) -> str:
        """The address that the form is submitted to."""
        return urls.resource(self.uid, "mart/feed") if self.found else urls.workspace(self.within, "marts/fed")

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Connection", f"Connection of {self.found.name}") if self.found else ("New data mart", "New data mart")

    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""
        rows = mart_probe.StorageProbeResult(
            fields=self.probe_result.found.get("fields", ()), rows=self.probe_result.found.get("rows", ())
        )
        return {
            "kinds": CONNECTOR_KINDS,
            "modes": data_mart_form.SYNC_MODES,
            "storages": [(each.uid, each.name) for each in storage_probe.usable_storages(ctx, self.within)],
            "streams": [str(each["name"]) for each in self.probe_result.streams],
            "grid": probe_grid(rows),
        }

    def probe(self, filled: ConnectorForm, secrets: Mapping[str, str], stream: str = "") -> SourceProbe:
        """Probe the source as the caller. Missing rights are raised; other errors are part of the result."""
        settings = filled.settings(self.found.settings if self.found else None)
        asked = FeedProbeTarget(settings, self.uid, self.within, secrets, stream)

        def let_in(ctx: RequestContext) -> Caller:
            mart_probe.need_feed_probe(ctx, asked)
            return ctx.caller

        caller = read_transaction(self.request).run(let_in)
        try:
            return SourceProbe(mart_probe.probe_feed(get_platform(self.request), caller, asked))
        except LakeholdError as error:
            return SourceProbe(error=error)


def _submit_form(page: ConnectorFormPage, platform: Platform, sent: FormData) -> Response:
    """Handle a submitted form: render it again, test the connection, or save."""
    filled, do = parse_connector_form(sent), str(sent.get("do", ""))
    reading = read_transaction(page.request)
    secret, kept = form_page.read_secret(platform, reading.run(lambda ctx: ctx.caller), sent)
    if do == "more":
        more = [*filled.endpoints, dict.fromkeys(connector_fields.ENDPOINT_FIELDS, "")]
        return page.render_again(replace(filled, reach=replace(filled.reach, endpoints=more)), kept)
    has_secret = bool(secret) or filled.credential in reading.run(page.secrets)
    if wrong := filled.errors(has_secret=has_secret, is_new=page.found is None):
        return page.render_again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        page.probe_result = page.probe(filled, secrets, filled.stream)
        if page.probe_result.error is not None:
            return page.render_error(filled, kept, page.probe_result.error)
        if wrong := _sample_errors(filled, page.probe_result.found):
            return page.render_again(filled, kept, errors=wrong)
        if do == "test":
            return page.render_again(filled, kept, said=_probe_message(page.probe_result))
    try:
        uid = page.save(filled, secrets)
    except CORRECTABLE_ERRORS as refusal:
        return page.render_error(filled, kept, refusal)
    words = "Saved. Applies from the next refresh."
    made = f"{filled.name} was created. Refresh it to load rows."
    return pages.redirect(page.request, urls.resource(uid, "mart"), Flash(words if page.found else made))


def _sample_errors(filled: ConnectorForm, seen: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors that a sample reveals, by field. Without a stream there is no sample."""
    if not filled.stream:
        there = ", ".join(str(each["name"]) for each in list(seen.get("streams", ()))[:10])
        return {"stream": f"Select a stream: {there}." if there else "No streams found."}
    return mart_probe.definition_errors(parse_definition(filled.settings()), seen.get("fields", ()))


def _probe_message(seen: SourceProbe) -> str:
    return f"Connection successful: {format_count(len(seen.found.get('fields', ())), 'field')}."
