"""Storages: their settings, and the tables of one that is a lakehouse; files, also of destinations."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.catalog import resource_metadata
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.readable_tables import CatalogEntry
from lakehold.lake.volumes import Volume
from lakehold.workspaces import registry
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.marts.settings import (
    DESTINATION_KIND,
    STORAGE,
    STORAGE_KIND,
    LakeStorageSettings,
    StorageSettings,
)
from lakehold.workspaces.volume_files import FileService

_TABLE, _LAKEHOUSE = "lakehouse.table", "lakehouse.lakehouse"
MAX_TABLES = 500
"""The most tables of a lakehouse that are offered at once."""


def storage_settings(ctx: RequestContext, uid: str) -> StorageSettings:
    """Return the settings of a storage."""
    return STORAGE.parse(resource_metadata.load(ctx, uid).settings)


@dataclass(frozen=True, slots=True)
class LakeTables:
    """The tables of a lakehouse that the caller may read, by the names of its SQL."""

    lakehouse: str
    """Its name."""
    tables: Sequence[CatalogEntry]


def lake_tables(ctx: RequestContext, storage: LakeStorageSettings, search: str | None = None) -> LakeTables:
    """Return the tables of the lakehouse with the rights of the caller: a storage gives no access of its own.

    All of them; or, with a search, the first whose name matches.
    """
    uid = storage.lakehouse
    if not VisibleRefs(ctx).sees(uid):
        # Its id is in the settings, which a user of the storage need not know.
        raise ForbiddenError(
            "The storage is a lakehouse that you do not see.",
            "Ask a manager of the lakehouse for access.",
            field="lakehouse",
        )
    if ctx.view.kind(ctx.view.resource(uid)) != _LAKEHOUSE:
        raise InvalidInputError(
            f"{quote(uid)} is not a lakehouse.", "Set lakehouse to the id of one.", field="lakehouse"
        )
    name = ctx.view.names.get(ctx.view.resource(uid)) or uid
    return LakeTables(name, _all_tables(ctx, name) if search is None else _matching_tables(ctx, uid, search))


def _all_tables(ctx: RequestContext, lakehouse: str) -> list[CatalogEntry]:
    return [
        CatalogEntry(table.uid, f"{layer.name}.{table.name}")
        for layer in readable_tables.list_containers(ctx, [lakehouse])
        for table in readable_tables.list_tables(ctx, [lakehouse, layer.name])
    ]


def _matching_tables(ctx: RequestContext, lakehouse: str, search: str) -> list[CatalogEntry]:
    """Return the tables that match a search, which may be for a layer and a table with a dot between them."""
    layer, dot, table = search.casefold().partition(".")
    some = ctx.session.list(
        ctx.principal,
        registry.readable_kinds()[_TABLE],
        _TABLE,
        within=lakehouse,
        search=table if dot else search,
        limit=MAX_TABLES,
    )
    found = [CatalogEntry(each.uid, ".".join(readable_tables.name_path(ctx.view, each.uid)[1:])) for each in some.items]
    return [each for each in found if not dot or layer in each.name.casefold()]


_TYPE_SETTINGS = {DESTINATION_KIND: "to", STORAGE_KIND: "kind"}
"""The setting in which each says that it keeps files: those that reports have written, or that data marts read."""


def _open_volume(ctx: RequestContext, settings: Settings, uid: str, action: str) -> Volume:
    """Return the files of a storage or destination if the caller may do this; only files of storages are changed."""
    among = tuple(_TYPE_SETTINGS) if action == "use" else (STORAGE_KIND,)
    hint = "Choose a storage or a destination of files."
    kind = need_kind(ctx, uid, action, among, refusal="A {} has no files of its own.", hint=hint)
    if resource_metadata.load(ctx, uid).settings.get(_TYPE_SETTINGS[kind]) != "files":
        raise ConflictError(f"{quote(uid)} has no files.", "Choose one that does.")
    return Volume(settings, readable_tables.identifier_of(ctx, uid))


FILES = FileService(read="use", write="edit", remove="edit", open_volume=_open_volume)
FILE_SERVICES = {STORAGE_KIND: FILES}
