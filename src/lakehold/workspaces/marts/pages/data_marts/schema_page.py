"""The schema of a data mart: alias, description, type, key and visibility of each field, for readers and editors."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import table_views
from lakehold.web import pages, table_pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, list_setting, parse_integer, row_settings
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts.mart_probe import ProbeTarget
from lakehold.workspaces.marts.pages import page_frame
from lakehold.workspaces.marts.pages.storage_pages import StorageProbe, probe_storage
from lakehold.workspaces.marts.settings import DATA_MART_KIND, parse_definition

routes = router("/resources")

TYPE_OPTIONS = tuple(
    (each, each) for each in ("string", "bigint", "double", "decimal(18,2)", "boolean", "date", "timestamp")
)
_MAX_FIELDS = 1_000


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """A field of the schema, as stored and as described."""

    name: str
    type: str = ""
    """As it is kept; empty if it is not."""
    about: str = ""
    """What its source says of it."""
    alias: str = ""
    description: str = ""
    cast: str = ""
    """Another type than it arrives with."""
    hidden: bool = field(default=False, kw_only=True)
    key: bool = field(default=False, kw_only=True)


@routes.get("/{uid:path}/schema")
def schema_page(request: Request, uid: str, draw: str = "") -> Response:
    """Render the fields; with `draw`, they are read from the storage too."""
    found = read_transaction(request).run(lambda ctx: page_frame.need_resource(ctx, uid, DATA_MART_KIND))
    drawn = _probe_fields(request, found) if draw and found.settings is not None else None
    return read_transaction(request).run(
        lambda ctx: _page(request, ctx, found, _schema_rows(request, ctx, found, drawn), drawn)
    )


@routes.post("/{uid:path}/schema")
def save(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the schema."""
    rows, version = _parse_rows(sent), parse_integer(str(sent.get("version", "")))
    found = read_transaction(request).run(lambda ctx: page_frame.need_edit(ctx, uid, DATA_MART_KIND))
    try:
        write_transaction(request).run(lambda ctx: _save(ctx, uid, rows, version))
    except CORRECTABLE_ERRORS as refusal:
        error = refusal
        return read_transaction(request).run(lambda ctx: _page(request, ctx, found, rows, error=error))
    here = urls.resource(uid, "schema")
    return pages.redirect(request, here, Flash("Saved. Types and hidden fields apply from the next refresh."))


def _page(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    rows: Sequence[SchemaRow],
    drawn: StorageProbe | None = None,
    *,
    error: LakeholdError | None = None,
) -> Response:
    values: dict[str, object] = {
        **page_frame.resource_frame(ctx, found, "schema"),
        "rows": list(enumerate(rows)),
        "types": TYPE_OPTIONS,
        "edits": found.may_edit,
        "drawn": drawn,
        "error": error,
    }
    return pages.render(request, "marts/schema.html", values, status=422 if error else 200)


def _schema_rows(
    request: Request, ctx: RequestContext, found: ResourceView, drawn: StorageProbe | None
) -> list[SchemaRow]:
    """Return the stored fields, and for editors also those that are only drawn or described."""
    settings = resource_metadata.load(ctx, found.uid).settings
    said = {str(each["name"]): each for each in row_settings(settings, "columns") if each.get("name")}
    keys = frozenset(map(str, list_setting(settings, "keys")))
    now = table_views.view_of(ctx, found.uid).current_metadata(get_lake(request))
    there = {
        each.name: (table_pages.sql_field_type(each.type), each.description or "")
        for each in (now.fields if now else ())
    }
    if found.may_edit:
        there |= {each["name"]: ("", "") for each in (drawn.seen.fields if drawn else ()) if each["name"] not in there}
        there |= {name: ("", "") for name in said if name not in there}
    return [
        SchemaRow(
            name,
            *about,
            *(str(said.get(name, {}).get(each, "")) for each in ("alias", "description", "type")),
            hidden=said.get(name, {}).get("hidden") is True,
            key=name in keys,
        )
        for name, about in there.items()
    ]


def _probe_fields(request: Request, found: ResourceView) -> StorageProbe | None:
    """Return the fields that the storage has now."""
    try:
        definition = parse_definition(found.settings or {})
    except InvalidInputError as error:
        return StorageProbe(error=error)
    storage = read_transaction(request).run(lambda ctx: next(iter(edge_targets(ctx, found.uid, "storage")), ""))
    target = ProbeTarget(storage, by=definition.by or "", text=definition.text)
    return probe_storage(request, target) if storage else None


def _parse_rows(form: FormData) -> list[SchemaRow]:
    def text(name: str, n: int) -> str:
        return str(form.get(f"{name}-{n}", "")).strip()

    return [
        SchemaRow(
            str(name),
            *(text(each, n) for each in ("kept", "about", "alias", "description", "type")),
            hidden=bool(form.get(f"hidden-{n}")),
            key=bool(form.get(f"key-{n}")),
        )
        for n, name in enumerate(form.getlist("name")[:_MAX_FIELDS])
    ]


def _save(ctx: RequestContext, uid: str, rows: Sequence[SchemaRow], version: int | None) -> None:
    page_frame.need_edit(ctx, uid, DATA_MART_KIND)
    columns = [_column_settings(row) for row in rows]
    settings = {
        **resource_metadata.load(ctx, uid).settings,
        "columns": [each for each in columns if len(each) > 1],
        "keys": [row.name for row in rows if row.key],
    }
    resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings), expect_version=version)


def _column_settings(row: SchemaRow) -> dict[str, object]:
    """Return the settings of a field."""
    given = {"alias": row.alias, "description": row.description, "type": row.cast}
    settings: dict[str, object] = {"name": row.name, **{name: value for name, value in given.items() if value}}
    return settings | ({"hidden": True} if row.hidden else {})
