"""Storages: what one is, who may look into it, and what is in one that is a lakehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakehold.access import Draft
from lakehold.catalog import credentials, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.readable_tables import CatalogEntry
from lakehold.workspaces.ends import starts
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.definitions import In
from lakehold.workspaces.told import SettingsReader

WORD = "storage"
_TABLE, _LAKEHOUSE = "lakehouse.table", "lakehouse.lakehouse"
MOST = 500
"""So many tables of a lakehouse are offered at once."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be looked at: a storage that is there, as it is or with other settings, or one that would be made."""

    storage: str = ""
    project: str = ""
    """Where one would be made."""
    settings: Mapping[str, object] | None = None
    """Other ones than those that are kept."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""
    by: str = ""
    """What a sample is wanted of: sql, a table or a pattern; without one, tables are told."""
    text: str = ""
    search: str | None = None
    """A part of the name, where tables are told: of a lakehouse the first that fit; without one, all of them."""


def told_of(ctx: RequestContext, uid: str) -> SettingsReader:
    """The settings of a storage."""
    return SettingsReader(resource_metadata.load(ctx, uid).settings, WORD)


def where(told: SettingsReader) -> In:
    """What it is."""
    return In(told.one_of("kind", tuple(In), ""))


def let_in(ctx: RequestContext, asked: Look) -> SettingsReader:
    """The settings that are looked at. Whoever uses a storage looks at it as it is; other settings are tried by who may
    edit it, or make one like this. Their own eyes only: it shows data.
    """
    readable_tables.refuse_impersonation(ctx)
    if asked.storage:
        nouns.need(ctx, asked.storage, nouns.STORAGE, "use" if asked.settings is None else "edit")
    else:
        if not asked.project or asked.settings is None:
            raise InvalidInputError(
                "It is not said which storage.", "Name a storage; or a project, and the settings of one there."
            )
        ctx.need_visible(asked.project)
        ctx.need_draft(Draft(nouns.STORAGE, {"project": asked.project}))
    if asked.settings is None:
        return told_of(ctx, asked.storage)
    return SettingsReader(asked.settings, WORD)


def secrets(ctx: RequestContext, asked: Look) -> dict[str, str]:
    """What it is connected to with. Never for an answer."""
    if not asked.storage:
        return dict(asked.secrets)
    kept = (
        credentials.load_for_use(ctx, asked.storage)
        if asked.settings is None
        else credentials.load_for_test(ctx, asked.storage, asked.settings)
    )
    return {**kept, **asked.secrets}


@dataclass(frozen=True, slots=True)
class LakeTables:
    """The tables of a lakehouse that somebody may read, as its own SQL calls them."""

    lakehouse: str
    """Its name."""
    tables: Sequence[CatalogEntry]


def lake_tables(ctx: RequestContext, told: SettingsReader, search: str | None = None) -> LakeTables:
    """Read with the levels of whoever asks: a storage opens nothing there that they could not read themself.

    All of them; or, with a search, the first that fit it by their name.
    """
    uid = told.text("lakehouse")
    if not VisibleRefs(ctx).sees(uid):
        # Its id stands in the settings, which whoever uses the storage need not know.
        raise ForbiddenError(
            "The storage is a lakehouse that you do not see.", "Ask whoever keeps the lakehouse to let you in."
        )
    if ctx.view.kind(ctx.view.resource(uid)) != _LAKEHOUSE:
        raise InvalidInputError(f"{quote(uid)} is no lakehouse.", "Set lakehouse to the id of one.")
    name = ctx.view.names.get(ctx.view.resource(uid)) or uid
    return LakeTables(name, _all(ctx, name) if search is None else _first(ctx, uid, search))


def _all(ctx: RequestContext, lakehouse: str) -> list[CatalogEntry]:
    return [
        CatalogEntry(table.uid, f"{layer.name}.{table.name}")
        for layer in readable_tables.list_containers(ctx, [lakehouse])
        for table in readable_tables.list_tables(ctx, [lakehouse, layer.name])
    ]


def _first(ctx: RequestContext, lakehouse: str, search: str) -> list[CatalogEntry]:
    """A search may be for a layer's name and a table's, with a dot between them."""
    layer, dot, table = search.casefold().partition(".")
    some = ctx.session.list(
        ctx.asker,
        readable_tables.READABLE[_TABLE],
        _TABLE,
        within=lakehouse,
        search=table if dot else search,
        limit=MOST,
    )
    found = [CatalogEntry(each.uid, ".".join(readable_tables.name_path(ctx.view, each.uid)[1:])) for each in some.items]
    return [each for each in found if not dot or layer in each.name.casefold()]


def marts_of(ctx: RequestContext, uid: str) -> tuple[list[ResourceRef], bool]:
    """The data marts that draw from it, and whether there are more that the caller may not see."""
    all_of_them = starts(ctx, uid, "storage")
    seen = VisibleRefs(ctx).refs(all_of_them)
    return sorted(seen, key=lambda ref: ref.name.casefold()), len(seen) < len(all_of_them)
