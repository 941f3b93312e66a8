"""The form of a storage and its pages. The connection is tested before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext, read_transaction
from lakehold.catalog import kinds, resources, workspaces
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.web import pages, urls
from lakehold.web.connections import connector_fields, form_page
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, split_names
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.mart_kinds import STORAGE_KIND
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.storage_probe import StorageProbe, probe_storage
from lakehold.workspaces.marts.settings import StorageType
from lakehold.workspaces.marts.storages import StorageProbeTarget

STORAGE_KINDS = (
    (
        StorageType.LAKE.value,
        "Lakehouse",
        "Tables of a lakehouse. Members read them with their own access.",
        "waves",
    ),
    (StorageType.DATABASE.value, "Database", "PostgreSQL, or another database with a JDBC driver.", "database"),
    (StorageType.FILES.value, "Files", "CSV, Excel, JSON or Parquet files.", "folder"),
)
_TEXTS = {
    StorageType.LAKE.value: ("lakehouse",),
    StorageType.DATABASE.value: ("product", "host", "port", "database", "address", "driver", "user", "schemas"),
    StorageType.FILES.value: ("folder",),
}


@dataclass(frozen=True, slots=True)
class StorageForm:
    """The values of the storage form."""

    kind: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the text of a field, or an empty string."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """The name of the secret that the kind needs, or an empty string."""
        return "password" if self.kind == StorageType.DATABASE else ""

    @property
    def fields(self) -> Mapping[str, str]:
        """The form fields by setting."""
        match self.kind:
            case "lake":
                return {"lakehouse": "lakehouse"}
            case "database":
                return {**connector_fields.database_fields(self.texts), "schemas": "schemas"}
            case _:
                return {"folder": "folder"}

    @staticmethod
    def edges() -> EdgeTargets:
        """Return no edges: a storage only belongs to its project."""
        return {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged."""
        match self.kind:
            case "lake":
                settings: dict[str, object] = {"lakehouse": self.text("lakehouse")}
            case "database":
                settings = {"address": connector_fields.database_address(self.texts), "user": self.text("user")}
                settings["schemas"] = split_names(self.text("schemas"))
                settings |= {"driver": self.text("driver")} if self.text("driver") else {}
            case _:
                settings = {"folder": self.text("folder").strip("/")}
        return {**(before or {}), "kind": self.kind, **settings}

    def errors(self) -> dict[str, str]:
        """Return the errors by field."""
        found: dict[str, str] = {} if self.name else {"name": "Enter a name."}
        if self.kind == StorageType.LAKE and not self.text("lakehouse"):
            found["lakehouse"] = "Select a lakehouse."
        if self.kind == StorageType.DATABASE:
            found |= connector_fields.database_errors(self.texts)
        return found


def parse_storage_form(form: FormData) -> StorageForm:
    """Parse a submitted form."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    kind = text("kind")
    return StorageForm(
        kind if kind in _TEXTS else "",
        text("name"),
        text("description"),
        text("version"),
        {name: text(name) for name in _TEXTS.get(kind, ())},
    )


def blank_storage_form(kind: str) -> StorageForm:
    """Return an empty form for a kind of storage."""
    return StorageForm(
        kind if kind in _TEXTS else "",
        texts=connector_fields.split_database_address("") if kind == StorageType.DATABASE else {},
    )


def storage_form_from_resource(found: ResourceView, kind: str = "") -> StorageForm:
    """Return the form for an existing storage. `kind` applies if the storage has none yet."""
    settings = found.settings or {}
    chosen = str(settings.get("kind", "")) or kind
    known = chosen if chosen in _TEXTS else ""
    texts = {name: _format_value(settings.get(name, "")) for name in _TEXTS.get(known, ())}
    if known == StorageType.DATABASE:
        texts |= connector_fields.split_database_address(str(settings.get("address", "")))
    return StorageForm(known, found.name, found.description, str(found.version), texts)


def _format_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


new = router("/workspaces")
routes = router("/resources")

_LAKEHOUSE, _MAX_LAKEHOUSES = "lakehouse.lakehouse", 200


@new.get("/{uid:path}/storages/new")
def new_form(request: Request, ctx: ReadContext, uid: str, kind: str = "") -> Response:
    """Render the form for a new storage. Its kind is chosen first."""
    need_project(ctx, uid)
    return StorageFormPage(request, uid).render(ctx, blank_storage_form(kind))


@new.post("/{uid:path}/storages/new")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and create the storage."""
    read_transaction(request).run(lambda ctx: need_project(ctx, uid))
    return _submit_form(StorageFormPage(request, uid), platform, sent)


@routes.get("/{uid:path}/storage/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str, kind: str = "") -> Response:
    """Render the form of an existing storage, without its secret."""
    found = _need_edit(ctx, uid)
    return StorageFormPage(request, workspace_id(found), found).render(ctx, storage_form_from_resource(found, kind))


@routes.post("/{uid:path}/storage/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and save the storage."""
    found = read_transaction(request).run(lambda ctx: _need_edit(ctx, uid))
    return _submit_form(StorageFormPage(request, workspace_id(found), found), platform, sent)


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller may create storages in the project."""
    workspaces.need_workspace(ctx, uid)
    ctx.need_draft(Draft(STORAGE_KIND, {"project": uid}))


def need_storage(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the storage, if the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != STORAGE_KIND:
        raise NotFoundError(f"There is no storage {quote(uid)}.", "Check the name in the project.")
    return found


class StorageFormPage(page_frame.ProjectFormPage[StorageForm]):
    """The form page of a storage."""

    kind, template = STORAGE_KIND, "marts/storage_form.html"

    def extra_values(self, ctx: RequestContext) -> dict[str, object]:
        """Return the template values of this form alone."""
        return {"kinds": STORAGE_KINDS, "lakehouses": _lakehouses(ctx)}


def _submit_form(page: StorageFormPage, platform: Platform, sent: FormData) -> Response:
    """Handle a submitted form: render it again, test the connection, or save."""
    filled, do = parse_storage_form(sent), str(sent.get("do", ""))
    secret, kept = form_page.read_secret(platform, read_transaction(page.request).run(lambda ctx: ctx.caller), sent)
    if wrong := filled.errors():
        return page.render_again(filled, kept, errors=wrong)
    secrets = {filled.credential: secret} if secret and filled.credential else {}
    if do != "save":
        looked = _test_connection(page, filled, secrets)
        if looked.error is not None:
            return page.render_error(filled, kept, looked.error)
        if do == "test":
            return page.render_again(filled, kept, said=_probe_message(filled, looked))
    try:
        uid = page.save(filled, secrets)
    except CORRECTABLE_ERRORS as refusal:
        return page.render_error(filled, kept, refusal)
    words = f"{filled.name} was created." if page.found is None else "Saved."
    return pages.redirect(page.request, urls.resource(uid, "storage"), Flash(words))


def _test_connection(page: StorageFormPage, filled: StorageForm, secrets: dict[str, str]) -> StorageProbe:
    if page.found is None:
        return probe_storage(page.request, StorageProbeTarget("", page.within, filled.settings(), secrets))
    return probe_storage(
        page.request, StorageProbeTarget(page.found.uid, "", filled.settings(page.found.settings), secrets)
    )


def _probe_message(filled: StorageForm, looked: StorageProbe) -> str:
    if looked.seen.notes:
        return looked.seen.notes[0]
    noun = "file" if filled.kind == StorageType.FILES else "table"
    return f"Connection successful: {format_count(len(looked.seen.tables), noun)} found."


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_storage(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _lakehouses(ctx: RequestContext) -> list[tuple[str, str]]:
    sight = ctx.view.policy.kind(_LAKEHOUSE).schema.visible
    found = ctx.session.list(ctx.principal, sight, _LAKEHOUSE, limit=_MAX_LAKEHOUSES).items
    return [(item.uid, item.name) for item in found]
