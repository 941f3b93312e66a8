"""Metadata of a resource besides its facts: description, settings, version, and who created and edited it when.

The version counts changes of the resource's own name, description, settings, attributes and edges. A resource
without a row was created by other means; it has the version 1 and no metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError, LakeholdError


class VersionConflictError(LakeholdError):
    """The resource has been changed since it was read."""

    code = "changed_meanwhile"
    status = 412


detail_table = sa.Table(
    "detail",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("version", IdType, nullable=False),
    sa.Column("created_at", IdType),
    sa.Column("created_by", ExactText, nullable=False),
    sa.Column("updated_at", IdType),
    sa.Column("updated_by", ExactText, nullable=False),
    # The same with how narrow their token was, as JSON.
    sa.Column("saved_as", sa.Text),
)

MAX_DESCRIPTION = 10_000
MAX_SETTINGS = 100_000
_MAX_DEPTH = 50
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """The metadata of one resource."""

    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    version: int = 1
    created_at: Moment | None = None
    created_by: str = ""
    updated_at: Moment | None = None
    updated_by: str = ""


def load(ctx: RequestContext, uid: str) -> ResourceMetadata:
    """Return the metadata of a resource. Whether the caller may see it has been checked before."""
    number = ctx.view.resource(uid)
    return load_many(ctx, [number]).get(number, ResourceMetadata())


def load_many(ctx: RequestContext, numbers: Iterable[int]) -> dict[int, ResourceMetadata]:
    """Return the metadata of many resources, by number."""
    ids = list(numbers)
    found: dict[int, ResourceMetadata] = {}
    c = detail_table.c
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        query = sa.select(detail_table).where(c.tenant_id == ctx.session.tenant, c.resource_id.in_(some))
        for row in ctx.session.transaction.connection.execute(query).mappings():
            values = {name: row[name] for name in _PLAIN_COLUMNS} | {"settings": json.loads(row["settings"])}
            found[row["resource_id"]] = ResourceMetadata(**values)
    return found


def last_editor(ctx: RequestContext, uid: str) -> Caller | None:
    """Return who last saved a resource, with the scope of their token: scheduled work runs as them. None if it was
    created by other means.
    """
    c = detail_table.c
    query = sa.select(c.saved_as, c.updated_by).where(
        c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid)
    )
    row = ctx.session.transaction.connection.execute(query).one_or_none()
    if row is None or not row.updated_by:
        return None
    stored = {"member": row.updated_by} if row.saved_as is None else json.loads(row.saved_as)
    return Caller.from_stored(ctx.caller.tenant, stored, address=ctx.caller.address)


def create(
    ctx: RequestContext, uid: str, *, description: str = "", settings: Mapping[str, object] | None = None
) -> None:
    """Insert the metadata of a new resource."""
    ctx.need_writable()
    ctx.session.transaction.connection.execute(
        detail_table.insert().values(
            tenant_id=ctx.session.tenant,
            resource_id=ctx.view.resource(uid),
            description=valid_description(description),
            settings=valid_settings(settings or {}),
            version=1,
            created_at=ctx.at,
            created_by=ctx.caller.member,
            updated_at=ctx.at,
            updated_by=ctx.caller.member,
            saved_as=json.dumps(ctx.caller.to_stored()),
        )
    )


def save(
    ctx: RequestContext, uid: str, *, description: str | None = None, settings: Mapping[str, object] | None = None
) -> int:
    """Save changed metadata and return the new version."""
    ctx.need_writable()
    old = load(ctx, uid)
    values = {
        "description": old.description if description is None else valid_description(description),
        "settings": valid_settings(old.settings if settings is None else settings),
        "version": old.version + 1,
        "updated_at": ctx.at,
        "updated_by": ctx.caller.member,
        "saved_as": json.dumps(ctx.caller.to_stored()),
    }
    here = {"tenant_id": ctx.session.tenant, "resource_id": ctx.view.resource(uid)}
    c = detail_table.c
    update = detail_table.update().where(*(c[name] == value for name, value in here.items())).values(**values)
    if not ctx.session.transaction.connection.execute(update).rowcount:
        born = {"created_at": None, "created_by": ""}
        ctx.session.transaction.connection.execute(detail_table.insert().values(**here, **born, **values))
    return old.version + 1


def save_managed(ctx: RequestContext, uid: str, managed: Mapping[str, object]) -> None:
    """Save settings that only the platform sets, as a finding of its own: nobody has edited the resource by that."""
    before = load(ctx, uid).settings
    after = {**before, **managed}
    if after == before:
        return
    ctx.need_writable()
    c = detail_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid))
    ctx.session.transaction.connection.execute(
        detail_table.update().where(which).values(settings=valid_settings(after))
    )


def clear(ctx: RequestContext, number: int) -> None:
    """Clear the settings of a deleted resource. Its description stays, for a restore."""
    c = detail_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == number)
    ctx.session.transaction.connection.execute(detail_table.update().where(which).values(settings="{}"))


def need_version(ctx: RequestContext, uid: str, version: int | None) -> None:
    """Refuse if the version is not the one that the caller has read. None accepts any."""
    if version is None:
        return
    present = load(ctx, uid).version
    if present != version:
        raise VersionConflictError(
            f"It is at version {present} by now, and version {version} was expected.",
            "Reload it and apply the change again.",
        )


def valid_description(text: object) -> str:
    """Return the description, or refuse an invalid one."""
    if not isinstance(text, str):
        raise InvalidInputError(f"A description is a text, not {type(text).__name__}.")
    if len(text) > MAX_DESCRIPTION:
        raise InvalidInputError(
            f"The description has {len(text):,} characters.", f"Use {MAX_DESCRIPTION:,} at the most."
        )
    if any(letter < " " and letter not in "\n\t" for letter in text) or not _is_unicode(text):
        raise InvalidInputError("The description has a control character.", "Use text, line breaks and tabs.")
    return text


def valid_settings(settings: object) -> str:
    """Return the settings as the JSON text that is stored, or refuse invalid ones."""
    if not isinstance(settings, Mapping):
        raise InvalidInputError(f"Settings are a mapping of names, not {type(settings).__name__}.", "Write {name: …}.")
    try:
        encoded = json.dumps(settings, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("The settings cannot be written as JSON.", "Use texts, numbers and lists.") from None
    if not _is_unicode(json.dumps(settings, ensure_ascii=False)):
        raise InvalidInputError("The settings have half a character in them.", "Write texts of whole characters.")
    if _is_too_deep(settings):
        raise InvalidInputError(f"The settings lie more than {_MAX_DEPTH} deep in each other.", "Write them flatter.")
    if len(encoded) > MAX_SETTINGS:
        raise InvalidInputError(
            f"The settings have {len(encoded):,} characters as JSON.", f"Use {MAX_SETTINGS:,} at the most."
        )
    return encoded


def _is_too_deep(settings: object) -> bool:
    """Whether the settings are nested too deeply to be returned as JSON."""
    level = [settings]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
    return bool(level)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_PLAIN_COLUMNS = ("description", "version", "created_at", "created_by", "updated_at", "updated_by")
