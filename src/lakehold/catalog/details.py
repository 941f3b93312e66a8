"""What is told of a resource beside its facts: a description, settings, a version, who made it and when.

The version counts changes of the resource's own name, description, settings, attributes and edges. A resource without
a row here was made by other means; it has the version 1 and nothing to tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from lakehold.catalog.errors import ChangedMeanwhileError
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import InvalidInputError

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

LONGEST_DESCRIPTION = 10_000
LONGEST_SETTINGS = 100_000
_DEEPEST = 50
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Detail:
    """What is told of one resource."""

    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    version: int = 1
    created_at: Moment | None = None
    created_by: str = ""
    updated_at: Moment | None = None
    updated_by: str = ""


def read(ctx: RequestContext, uid: str) -> Detail:
    """What is told of a resource. Whether the caller may know it has been asked before."""
    number = ctx.view.resource(uid)
    return read_many(ctx, [number]).get(number, Detail())


def read_many(ctx: RequestContext, numbers: Iterable[int]) -> dict[int, Detail]:
    """The same for many, by their numbers."""
    wanted = list(numbers)
    found: dict[int, Detail] = {}
    c = detail_table.c
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        query = sa.select(detail_table).where(c.tenant_id == ctx.session.tenant, c.resource_id.in_(some))
        for row in ctx.session.transaction.connection.execute(query).mappings():
            told = {name: row[name] for name in _PLAIN} | {"settings": json.loads(row["settings"])}
            found[row["resource_id"]] = Detail(**told)
    return found


def saver(ctx: RequestContext, uid: str) -> Caller | None:
    """Who last saved a resource, as narrow as their token was: as whom is done what nobody starts by hand. None if it
    was made by other means.
    """
    c = detail_table.c
    query = sa.select(c.saved_as, c.updated_by).where(
        c.tenant_id == ctx.session.tenant, c.resource_id == ctx.view.resource(uid)
    )
    row = ctx.session.transaction.connection.execute(query).one_or_none()
    if row is None or not row.updated_by:
        return None
    told = {"member": row.updated_by} if row.saved_as is None else json.loads(row.saved_as)
    return Caller.of(ctx.caller.tenant, told, address=ctx.caller.address)


def made(ctx: RequestContext, uid: str, *, description: str = "", settings: Mapping[str, object] | None = None) -> None:
    """A resource is new."""
    ctx.writing()
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
            saved_as=json.dumps(ctx.caller.told()),
        )
    )


def changed(
    ctx: RequestContext, uid: str, *, description: str | None = None, settings: Mapping[str, object] | None = None
) -> int:
    """Something of a resource is new. Returns its version from now on."""
    ctx.writing()
    old = read(ctx, uid)
    told = {
        "description": old.description if description is None else valid_description(description),
        "settings": valid_settings(old.settings if settings is None else settings),
        "version": old.version + 1,
        "updated_at": ctx.at,
        "updated_by": ctx.caller.member,
        "saved_as": json.dumps(ctx.caller.told()),
    }
    here = {"tenant_id": ctx.session.tenant, "resource_id": ctx.view.resource(uid)}
    c = detail_table.c
    update = detail_table.update().where(*(c[name] == value for name, value in here.items())).values(**told)
    if not ctx.session.transaction.connection.execute(update).rowcount:
        born = {"created_at": None, "created_by": ""}
        ctx.session.transaction.connection.execute(detail_table.insert().values(**here, **born, **told))
    return old.version + 1


def gone(ctx: RequestContext, number: int) -> None:
    """The resource has come to its end. What it was said to be stays, for who brings its rows back."""
    c = detail_table.c
    which = sa.and_(c.tenant_id == ctx.session.tenant, c.resource_id == number)
    ctx.session.transaction.connection.execute(detail_table.update().where(which).values(settings="{}"))


def expect(ctx: RequestContext, uid: str, version: int | None) -> None:
    """Refuse if it is not the version that the caller has read. None: whatever it is."""
    if version is None:
        return
    present = read(ctx, uid).version
    if present != version:
        raise ChangedMeanwhileError(
            f"It is at version {present} by now, and version {version} was expected.",
            "Read it anew, and make the change on top of that.",
        )


def valid_description(text: object) -> str:
    """The text, if it may be a description."""
    if not isinstance(text, str):
        raise InvalidInputError(f"A description is a text, not {type(text).__name__}.")
    if len(text) > LONGEST_DESCRIPTION:
        raise InvalidInputError(
            f"The description has {len(text):,} characters.", f"Use {LONGEST_DESCRIPTION:,} at the most."
        )
    if any(letter < " " and letter not in "\n\t" for letter in text) or not _is_unicode(text):
        raise InvalidInputError("The description has a control character.", "Use text, line breaks and tabs.")
    return text


def valid_settings(settings: object) -> str:
    """The settings as they are kept."""
    if not isinstance(settings, Mapping):
        raise InvalidInputError(f"Settings are a mapping of names, not {type(settings).__name__}.", "Write {name: …}.")
    try:
        kept = json.dumps(settings, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("The settings cannot be written as JSON.", "Use texts, numbers and lists.") from None
    if not _is_unicode(json.dumps(settings, ensure_ascii=False)):
        raise InvalidInputError("The settings have half a character in them.", "Write texts of whole characters.")
    if _is_deep(settings):
        raise InvalidInputError(f"The settings lie more than {_DEEPEST} deep in each other.", "Write them flatter.")
    if len(kept) > LONGEST_SETTINGS:
        raise InvalidInputError(
            f"The settings have {len(kept):,} characters as JSON.", f"Use {LONGEST_SETTINGS:,} at the most."
        )
    return kept


def _is_deep(settings: object) -> bool:
    """Whether it could be kept, and not be answered again."""
    level = [settings]
    for _ in range(_DEEPEST):
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


_PLAIN = ("description", "version", "created_at", "created_by", "updated_at", "updated_by")
