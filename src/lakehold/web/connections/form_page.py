"""The form page of a resource with a connection (source, storage, destination): tested before it is saved, and
rendered again with all values but the secret, which is encrypted meanwhile.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.catalog import credentials, kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.keys import KeyRing
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.form_values import error_field, parse_integer

_PURPOSE = "a form's secret"
_LIFETIME = 3600 * SECOND


def read_secret(platform: Platform, caller: Caller, sent: FormData) -> tuple[str, str]:
    """Return the submitted secret, typed now or before, and its encrypted form for the next rendering."""
    at = platform.clock()
    secret = str(sent.get("secret", "")) or decrypt_secret(platform.keys, caller, str(sent.get("kept", "")), at)
    return secret, encrypt_secret(platform.keys, caller, secret, at)


def encrypt_secret(keys: KeyRing, caller: Caller, secret: str, at: Moment) -> str:
    """Encrypt a secret so that the form can carry it for this caller."""
    if not secret:
        return ""
    return keys.encrypt(json.dumps([_PURPOSE, caller.tenant, caller.member, at + _LIFETIME, secret]))


def decrypt_secret(keys: KeyRing, caller: Caller, kept: str, at: Moment) -> str:
    """Decrypt the secret of a form; empty if it is expired, invalid or another member's."""
    if not kept:
        return ""
    try:
        payload = json.loads(keys.decrypt(kept))
    except (InvalidInputError, ValueError):
        return ""
    if not isinstance(payload, list) or payload[:3] != [_PURPOSE, caller.tenant, caller.member] or payload[3] < at:
        return ""
    return str(payload[4])


class ConnectionForm(Protocol):
    """The values of a connection form."""

    @property
    def name(self) -> str:
        """The name of the resource."""

    @property
    def description(self) -> str:
        """The description of the resource."""

    @property
    def version(self) -> str:
        """The version of the resource that the form was rendered with."""

    @property
    def credential(self) -> str:
        """The name of the secret that it needs, or an empty string."""

    @property
    def fields(self) -> Mapping[str, str]:
        """The form fields by setting."""

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save."""

    def edges(self) -> EdgeTargets:
        """Return what it reads or writes."""


_F = TypeVar("_F", bound=ConnectionForm)


class ConnectionFormPage(ABC, Generic[_F]):
    """Renders, tests and saves the form of a new resource in a workspace, or of an existing one."""

    kind: str
    template: str
    part: str
    """What it is called that is changed here, and where."""
    workspace_edge: str
    """The edge to its workspace."""
    list_view: str
    """The part of the workspace's URL at which all of them are listed."""

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    @property
    def uid(self) -> str:
        """The id of the existing resource; empty for a new one."""
        return self.found.uid if self.found else ""

    @property
    def noun(self) -> str:
        """The noun of the kind, as used in addresses and titles."""
        return self.kind.rpartition(".")[2]

    @abstractmethod
    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""

    @property
    def action_url(self) -> str:
        """The address that the form is submitted to."""
        if self.found is None:
            return kind_pages.create_form_url(self.within, self.kind)
        return urls.resource(self.found.uid, self.part)

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        if self.found is None:
            return f"New {self.noun}", f"New {self.noun}"
        part = self.part.capitalize()
        return part, f"{part} of {self.found.name}"

    def render(
        self,
        ctx: RequestContext,
        filled: _F,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Render the form."""
        uid, (last, title) = self.uid, self.heading()
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, last),
            "title": title,
            "to": self.action_url,
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, self.list_view),
            "filled": filled,
            "has_secret": bool(kept) or filled.credential in self.secrets(ctx),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": isinstance(error, NoWorkerError),
            "said": said,
            "is_new": not uid,
            **self.extra_values(ctx),
        }
        return pages.render(self.request, self.template, values, status=422 if errors or error else 200)

    def render_again(self, filled: _F, kept: str, *, errors: dict[str, str] | None = None, said: str = "") -> Response:
        """Render the form again, in a transaction of its own."""
        return read_transaction(self.request).run(
            lambda ctx: self.render(ctx, filled, kept=kept, errors=errors, said=said)
        )

    def render_error(self, filled: _F, kept: str, error: LakeholdError) -> Response:
        """Render the form again with an error, at its field if it is about one."""
        place = error_field(error, filled.fields)
        errors, whole = ({place: str(error)}, None) if place else (None, error)
        return read_transaction(self.request).run(
            lambda ctx: self.render(ctx, filled, kept=kept, errors=errors, error=whole)
        )

    def secrets(self, ctx: RequestContext) -> list[str]:
        """Return the names of the saved secrets."""
        return credentials.list_names(ctx, self.uid) if self.uid else []

    def save(self, filled: _F, secrets: Mapping[str, str]) -> str:
        """Create or edit the resource in a transaction of its own, and return its id."""
        return write_transaction(self.request).run(lambda ctx: self._save(ctx, filled, secrets))

    def _save(self, ctx: RequestContext, filled: _F, secrets: Mapping[str, str]) -> str:
        if self.found is None:
            edges = {self.workspace_edge: self.within, **filled.edges()}
            settings, words = filled.settings(), filled.description
            uid = resources.create(ctx, self.kind, filled.name, edges=edges, settings=settings, description=words)
        else:
            uid = self.found.uid
            settings = filled.settings(self.found.settings)
            edit_request = ResourceEdit(filled.name, filled.description, settings, edges=filled.edges())
            resource_edit.apply_edit(ctx, uid, edit_request, expect_version=parse_integer(filled.version))
        if secrets:
            credentials.save(ctx, uid, dict(secrets))
        return uid


def need_editable(ctx: RequestContext, uid: str, kind: str) -> ResourceView:
    """Return the source or destination, if the caller may edit it."""
    found = resources.get(ctx, uid)
    if found.kind != kind:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} is no {kind.rpartition('.')[2]}.", "Select one.")
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def workspace_id(found: ResourceView) -> str:
    """Return the id of the workspace that holds the resource."""
    return found.workspace.uid if found.workspace else ""
