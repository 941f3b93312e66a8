"""The schema of a data mart as its readers see it: what each field is called, means and is. Its keepers edit it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import readable_tables
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import forms, grids
from lakehold.web.lakehouse.sources import looking
from lakehold.web.marts import framing
from lakehold.web.marts.data_marts.routes import need_edit, need_mart
from lakehold.web.marts.looking import Looked, look
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts.definitions import DATA_MART_LABEL, MartColumn, MartDefinition
from lakehold.workspaces.marts.storages import StorageProbeTarget
from lakehold.workspaces.settings_reader import SettingsReader

routes = router("/resources")

TYPES = tuple((each, each) for each in ("string", "bigint", "double", "decimal(18,2)", "boolean", "date", "timestamp"))
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A field, as it is kept and as it is said to be."""

    name: str
    type: str = ""
    """As it is kept; empty if it is not."""
    about: str = ""
    """What its source says of it."""
    alias: str = ""
    description: str = ""
    cast: str = ""
    """Another type than it arrives with."""
    hidden: bool = False
    key: bool = False


@routes.get("/{uid:path}/schema")
def schema_page(request: Request, uid: str, draw: str = "") -> Response:
    """The fields; the address may say that they are to be read from the storage."""
    found = looking.reading(request).run(lambda ctx: need_mart(ctx, uid))
    drawn = _drawn(request, found) if draw and found.settings is not None else None
    return looking.reading(request).run(
        lambda ctx: _page(request, ctx, found, _rows(request, ctx, found, drawn), drawn)
    )


@routes.post("/{uid:path}/schema")
def save(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Keep what is said of them."""
    rows, version = _sent(sent), forms.whole(str(sent.get("version", "")))
    found = looking.reading(request).run(lambda ctx: need_edit(ctx, uid))
    try:
        looking.writing(request).run(lambda ctx: _kept(ctx, uid, rows, version))
    except forms.MENDED as refusal:
        error = refusal
        return looking.reading(request).run(lambda ctx: _page(request, ctx, found, rows, error=error))
    here = urls.resource(uid, "schema")
    return pages.redirect(request, here, Flash("Saved. Types and hidden fields are so from the next refresh on."))


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    rows: Sequence[Row],
    drawn: Looked | None = None,
    *,
    error: LakeholdError | None = None,
) -> Response:
    values: dict[str, object] = {
        **framing.frame(ctx, found, "schema"),
        "rows": list(enumerate(rows)),
        "types": TYPES,
        "edits": found.may_edit,
        "drawn": drawn,
        "error": error,
    }
    return pages.render(request, "marts/schema.html", values, status=422 if error else 200)


def _rows(request: Request, ctx: RequestContext, found: ResourceView, drawn: Looked | None) -> list[Row]:
    """Those that are kept, and those that are drawn or named and not kept; who may not edit it sees the first."""
    settings = resource_metadata.load(ctx, found.uid).settings
    said, keys = _columns(settings), frozenset(_keys(settings))
    now = get_lake(request).current_metadata(readable_tables.identifier_of(ctx, found.uid))
    there = {each.name: (grids.field_type(each.type), each.description or "") for each in (now.fields if now else ())}
    if found.may_edit:
        there |= {each["name"]: ("", "") for each in (drawn.seen.fields if drawn else ()) if each["name"] not in there}
        there |= {name: ("", "") for name in said if name not in there}
    return [_row(name, *about, said.get(name, MartColumn(name)), key=name in keys) for name, about in there.items()]


def _row(name: str, kind: str, about: str, said: MartColumn, *, key: bool) -> Row:
    return Row(name, kind, about, said.alias, said.description, said.type, said.hidden, key)


def _drawn(request: Request, found: ResourceView) -> Looked | None:
    """The fields as its storage gives them now."""
    try:
        definition = MartDefinition.from_settings(SettingsReader(found.settings or {}, DATA_MART_LABEL))
    except InvalidInputError as error:
        return Looked(error=error)
    storage = looking.reading(request).run(lambda ctx: next(iter(edge_targets(ctx, found.uid, "storage")), ""))
    return look(request, StorageProbeTarget(storage, by=definition.by.value, text=definition.text)) if storage else None


def _sent(form: FormData) -> list[Row]:
    def text(name: str, n: int) -> str:
        return str(form.get(f"{name}-{n}", "")).strip()

    return [
        Row(
            str(name),
            text("kept", n),
            text("about", n),
            text("alias", n),
            text("description", n),
            text("type", n),
            hidden=bool(form.get(f"hidden-{n}")),
            key=bool(form.get(f"key-{n}")),
        )
        for n, name in enumerate(form.getlist("name")[:_MOST])
    ]


def _kept(ctx: RequestContext, uid: str, rows: Sequence[Row], version: int | None) -> None:
    need_edit(ctx, uid)
    hidden = next((row.name for row in rows if row.hidden and row.key), "")
    if hidden:
        raise InvalidInputError(f"{hidden} is hidden, and a part of the primary key.", "A key has to be kept.")
    told = [_told(row) for row in rows]
    settings = {
        **resource_metadata.load(ctx, uid).settings,
        "columns": [each for each in told if len(each) > 1],
        "keys": [row.name for row in rows if row.key],
    }
    if settings.get("by"):
        MartDefinition.from_settings(SettingsReader(settings, DATA_MART_LABEL))
    resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings), expect_version=version)


def _told(row: Row) -> dict[str, object]:
    """What is kept of a field; its name alone says nothing."""
    given = {"alias": row.alias, "description": row.description, "type": row.cast}
    told: dict[str, object] = {"name": row.name, **{name: value for name, value in given.items() if value}}
    return told | ({"hidden": True} if row.hidden else {})


def _columns(settings: Mapping[str, object]) -> dict[str, MartColumn]:
    some = settings.get("columns")
    found = [each for each in some if isinstance(each, Mapping)] if isinstance(some, list) else []
    return {str(each.get("name", "")): _column(each) for each in found if each.get("name")}


def _column(told: Mapping[str, object]) -> MartColumn:
    def text(name: str) -> str:
        return str(told.get(name, ""))

    return MartColumn(text("name"), text("alias"), text("description"), text("type"), told.get("hidden") is True)


def _keys(settings: Mapping[str, object]) -> list[str]:
    keys = settings.get("keys")
    return [str(each) for each in keys] if isinstance(keys, list) else []
