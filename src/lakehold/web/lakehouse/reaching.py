"""The form of what reaches somewhere else, a source, a storage or a destination: tried before it is kept, and shown
again with all that was filled in but the secret, which is in no page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

from fastapi import Request, Response

from lakehold.catalog import credentials, kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.sources import looking
from lakehold.web.lakehouse.sources.troubles import is_no_worker


class Filled(Protocol):
    """A form as it is filled in."""

    @property
    def name(self) -> str:
        """What it is to be called."""

    @property
    def description(self) -> str:
        """What it is for."""

    @property
    def version(self) -> str:
        """Which state of it was shown."""

    @property
    def credential(self) -> str:
        """What the secret is called that it needs; empty if it needs none."""

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it beside the edges."""

    def edges(self) -> EdgeTargets:
        """What it reads or writes."""


_F = TypeVar("_F", bound=Filled)


class Form(ABC, Generic[_F]):
    """As it is shown: for a new one in a workspace, or for one that is there."""

    kind: str
    template: str
    part: str
    """What it is called that is changed here, and where."""
    holder, listed = "lakehouse", "pipelines"
    """The edge to its workspace, and where all of them are listed there."""

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    @property
    def uid(self) -> str:
        """Of the one that is there; empty for a new one."""
        return self.found.uid if self.found else ""

    @property
    def word(self) -> str:
        """What people call the kind."""
        return self.kind.rpartition(".")[2]

    @abstractmethod
    def about(self, ctx: RequestContext) -> dict[str, object]:
        """What only this form has."""

    @property
    def to(self) -> str:
        """Where it is sent."""
        if self.found is None:
            return urls.workspace(self.within, f"pipelines/new/{self.word}")
        return urls.resource(self.found.uid, self.part)

    def heading(self) -> tuple[str, str]:
        """What stands last in the path to it, and above it."""
        if self.found is None:
            return f"New {self.word}", f"New {self.word}"
        part = self.part.capitalize()
        return part, f"{part} of {self.found.name}"

    def page(
        self,
        ctx: RequestContext,
        filled: _F,
        *,
        kept: str = "",
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Show it."""
        uid, (last, title) = self.uid, self.heading()
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, last),
            "title": title,
            "to": self.to,
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, self.listed),
            "filled": filled,
            "has_secret": bool(kept) or filled.credential in self.secrets(ctx),
            "kept": kept,
            "errors": errors or {},
            "error": error,
            "no_worker": error is not None and is_no_worker(error),
            "said": said,
            "is_new": not uid,
            **self.about(ctx),
        }
        return pages.render(self.request, self.template, values, status=422 if errors or error else 200)

    def again(self, filled: _F, kept: str, *, errors: dict[str, str] | None = None, said: str = "") -> Response:
        """Show it once more, in a transaction of its own."""
        return looking.reading(self.request).run(
            lambda ctx: self.page(ctx, filled, kept=kept, errors=errors, said=said)
        )

    def refused(self, filled: _F, kept: str, error: LakeholdError, place: str = "") -> Response:
        """Show it once more, with what stands against it: at its field, if it is about one."""
        errors, whole = ({place: str(error)}, None) if place else (None, error)
        return looking.reading(self.request).run(
            lambda ctx: self.page(ctx, filled, kept=kept, errors=errors, error=whole)
        )

    def secrets(self, ctx: RequestContext) -> list[str]:
        """The names of the secrets that are kept."""
        return credentials.list_names(ctx, self.uid) if self.uid else []

    def keep(self, filled: _F, secrets: Mapping[str, str]) -> str:
        """Make it, or change it; in a transaction of its own. Returns its id."""
        return looking.writing(self.request).run(lambda ctx: self._kept(ctx, filled, secrets))

    def _kept(self, ctx: RequestContext, filled: _F, secrets: Mapping[str, str]) -> str:
        if self.found is None:
            edges = {self.holder: self.within, **filled.edges()}
            settings, words = filled.settings(), filled.description
            uid = resources.create(ctx, self.kind, filled.name, edges=edges, settings=settings, description=words)
        else:
            uid = self.found.uid
            settings = filled.settings(self.found.settings)
            wanted = ResourceEdit(filled.name, filled.description, settings, edges=filled.edges())
            resource_edit.apply_edit(ctx, uid, wanted, expect_version=forms.whole(filled.version))
        if secrets:
            credentials.save(ctx, uid, dict(secrets))
        return uid


def need(ctx: RequestContext, uid: str, kind: str) -> ResourceView:
    """The source or destination, if the caller may edit it."""
    found = resources.get(ctx, uid)
    if found.kind != kind:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} is no {kind.rpartition('.')[2]}.", "Choose one.")
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def within(found: ResourceView) -> str:
    """The workspace that it is in."""
    return found.workspace.uid if found.workspace else ""
