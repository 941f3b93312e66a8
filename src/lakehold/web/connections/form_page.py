"""The form page of a resource with a connection (source, storage, destination): tested before it is saved, and
rendered again with all values but the secret, which is encrypted meanwhile.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import (
    CurrentPlatform,
    ReadContext,
    get_platform,
    read_transaction,
    write_transaction,
)
from lakehold.catalog import credentials, kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.keys import KeyRing
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections.form import FormDesign, ResourceForm
from lakehold.web.form_values import CORRECTABLE_ERRORS, error_field, parse_integer
from lakehold.web.routing import SubmittedForm, router

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
    try:
        *owner, until, secret = json.loads(keys.decrypt(kept))
    except (InvalidInputError, ValueError, TypeError):
        return ""
    return str(secret) if owner == [_PURPOSE, caller.tenant, caller.member] and at <= until else ""


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """The result of testing a connection: a message, or what is wrong, as a whole or by field."""

    message: str = ""
    error: LakeholdError | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


class ConnectionFormPage(ABC):
    """Renders, tests and saves the form of a new resource in a workspace, or of an existing one."""

    kind: str
    design: ClassVar[FormDesign]
    template = "connections/form.html"
    new_part: str
    """The address of the form of a new one, in its workspace."""
    edit_part: ClassVar[str]
    """The address of the form of an existing one."""
    workspace_edge: ClassVar[str]
    """The edge to its workspace."""
    list_view: ClassVar[str]
    """The part of the workspace's URL at which all of them are listed."""
    carried: ClassVar[Mapping[str, str]] = {}
    """Fields that the address of a new one may fill in, by parameter."""

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.found = request, within, found
        self.uid = found.uid if found else ""

    @classmethod
    @abstractmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> object:
        """Refuse unless the caller may open the form of a new one in the workspace."""

    @classmethod
    def need_resource(cls, ctx: RequestContext, uid: str) -> ResourceView:
        """Return the resource, if it is of this kind and the caller may edit it."""
        found = resources.get(ctx, uid)
        if found.kind != cls.kind:
            title = kinds.catalog_kind(ctx.view.policy, found.kind).title.lower()
            raise InvalidInputError(f"A {title} is no {cls.kind.rpartition('.')[2]}.", "Select one.")
        kinds.need_right(ctx, uid, "edit")
        return found

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Test the connection as the caller. Missing rights are raised; other errors are part of the result."""
        del filled, secrets
        return ConnectionTest()

    @abstractmethod
    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return the address after saving, and the message there."""

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the options of fields that depend on the workspace and the caller."""
        del ctx
        return {}

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return the ends to save, by edge."""
        return filled.edges()

    def extra_values(self) -> dict[str, object]:
        """Return the template values of this form alone."""
        return {}

    def check(self, filled: ResourceForm, *, has_secret: bool) -> tuple[ResourceForm, dict[str, str]]:
        """Return the submitted values, perhaps completed, and their errors by field."""
        return filled, filled.errors(has_secret=has_secret)

    @property
    def word(self) -> str:
        """The type that the address names."""
        return self.request.query_params.get(self.design.choice, "")

    def load(self, found: ResourceView) -> ResourceForm:
        """Return the form of an existing resource."""
        return self.design.from_resource(found, self.word)

    @property
    def action_url(self) -> str:
        """The address that the form is submitted to."""
        return urls.resource(self.uid, self.edit_part) if self.uid else urls.workspace(self.within, self.new_part)

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        noun = self.kind.rpartition(".")[2].replace("_", " ")
        return ("Edit", f"Edit {self.found.name}") if self.found else (f"New {noun}", f"New {noun}")

    def open(self, ctx: RequestContext) -> Response:
        """Render the form as it is opened. The address may name the type, and some values of a new one."""
        if sent := pages.restored_form(self.request):
            return self.render(ctx, self.parse(sent), kept=read_secret(get_platform(self.request), ctx.caller, sent)[1])
        if self.found:
            return self.render(ctx, self.load(self.found))
        query = self.request.query_params
        given = {name: query.get(parameter, "") for parameter, name in self.carried.items()}
        return self.render(ctx, self.design.blank(self.word, **given))

    def render(
        self,
        ctx: RequestContext,
        filled: ResourceForm,
        *,
        kept: str = "",
        errors: Mapping[str, str] | None = None,
        error: LakeholdError | None = None,
        said: str = "",
    ) -> Response:
        """Render the form."""
        uid, (last, title) = self.uid, self.heading()
        carried = {parameter: filled.text(name) for parameter, name in self.carried.items() if filled.text(name)}
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, last),
            "title": title,
            "to": self.action_url,
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, self.list_view),
            "filled": filled,
            "design": self.design,
            "note": self.design.note,
            "options": self.options(ctx),
            "carried": f"&{urlencode(carried)}" if carried and not uid else "",
            "has_secret": bool(kept) or filled.credential in self.secrets(ctx),
            "kept": kept,
            "no_worker": isinstance(error, NoWorkerError),
            "said": said,
            "is_new": not uid,
            "icon": "" if uid else "plus",
            "steps": [],
            "grid": None,
            **self.extra_values(),
        }
        return pages.render_form(self.request, self.template, values, errors, error)

    def parse(self, sent: FormData) -> ResourceForm:
        """Parse a submitted form."""
        return self.design.parse(sent, self.found.settings if self.found else None, self.word)

    def submit(self, platform: Platform, sent: FormData) -> Response:
        """Handle a submitted form: render it again, test the connection, or save."""
        filled, do = self.parse(sent), str(sent.get("do", ""))
        reading = read_transaction(self.request)

        def again(filled: ResourceForm = filled, **outcome: Any) -> Response:  # noqa: ANN401 - as `render` has them
            return reading.run(lambda ctx: self.render(ctx, filled, kept=kept, **outcome))

        secret, kept = read_secret(platform, reading.run(lambda ctx: ctx.caller), sent)
        if do == "more":
            return again(filled.add_record())
        if not filled.word:
            return again()
        has_secret = bool(secret) or filled.credential in reading.run(self.secrets)
        filled, wrong = self.check(filled, has_secret=has_secret)
        if wrong:
            return again(filled, errors=wrong)
        secrets = {filled.credential: secret} if secret and filled.credential else {}
        if do == "test" or (self.design.tests_first and do != "save"):
            tested = self.test(filled, secrets)
            if tested.error is not None:
                return again(**_place_error(filled, tested.error))
            if tested.errors or do == "test":
                return again(errors=tested.errors, said="" if tested.errors else tested.message)
        try:
            uid = write_transaction(self.request).run(lambda ctx: self.save(ctx, filled, secrets))
        except CORRECTABLE_ERRORS as refusal:
            return again(**_place_error(filled, refusal))
        address, message = self.saved(filled, uid)
        return pages.redirect(self.request, address, message)

    def secrets(self, ctx: RequestContext) -> list[str]:
        """Return the names of the saved secrets."""
        return credentials.list_names(ctx, self.uid) if self.uid else []

    def save(self, ctx: RequestContext, filled: ResourceForm, secrets: Mapping[str, str]) -> str:
        """Create or edit the resource, and return its id."""
        edges, settings, description = self.edges(filled), filled.settings(), filled.text("description")
        uid = self.uid
        if self.found is None:
            edges[self.workspace_edge] = [self.within]
            uid = resources.create(ctx, self.kind, filled.name, edges=edges, settings=settings, description=description)
        else:
            edit_request = ResourceEdit(filled.name, description, settings, edges=edges)
            resource_edit.apply_edit(ctx, uid, edit_request, expect_version=parse_integer(filled.text("version")))
        if secrets:
            credentials.save(ctx, uid, dict(secrets))
        return uid


def _place_error(filled: ResourceForm, error: LakeholdError) -> dict[str, Any]:
    """Return an error as that of its field, if it is about one; else as that of the whole form."""
    place = error_field(error, filled.error_places())
    return {"errors": {place: str(error)}} if place else {"error": error}


def form_routers(page: type[ConnectionFormPage]) -> tuple[APIRouter, APIRouter]:
    """Return the routers of a form: for a new resource in a workspace, and for an existing one."""
    new, routes = router("/workspaces"), router("/resources")
    new_path, edit_path = f"/{{uid:path}}/{page.new_part}", f"/{{uid:path}}/{page.edit_part}"

    @new.get(new_path)
    def new_form(request: Request, ctx: ReadContext, uid: str) -> Response:
        page.need_workspace(ctx, uid)
        return page(request, uid).open(ctx)

    @new.post(new_path)
    def create(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
        read_transaction(request).run(lambda ctx: page.need_workspace(ctx, uid))
        return page(request, uid).submit(platform, sent)

    @routes.get(edit_path)
    def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
        found = page.need_resource(ctx, uid)
        return page(request, workspace_id(found), found).open(ctx)

    @routes.post(edit_path)
    def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
        found = read_transaction(request).run(lambda ctx: page.need_resource(ctx, uid))
        return page(request, workspace_id(found), found).submit(platform, sent)

    return new, routes


_T = TypeVar("_T")


def probe_as_caller(
    request: Request, need: Callable[[RequestContext], object], probe: Callable[[Platform, Caller], _T]
) -> tuple[_T | None, LakeholdError | None]:
    """Probe a connection as the caller, outside of any transaction. An error is returned; missing rights are raised."""

    def let_in(ctx: RequestContext) -> Caller:
        need(ctx)
        return ctx.caller

    caller = read_transaction(request).run(let_in)
    try:
        return probe(get_platform(request), caller), None
    except LakeholdError as error:
        return None, error


def workspace_id(found: ResourceView) -> str:
    """Return the id of the workspace that holds the resource."""
    return found.workspace.uid if found.workspace else ""
