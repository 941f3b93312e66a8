"""Metadata of a resource besides its facts: description, settings, version, and who created and edited it when.

The author of a definition is the caller who last changed what runs: settings or edges. Correcting a name or a
description makes nobody its author. Parts that the kind's settings schema names have authors of their own.

The version counts changes of the resource's own name, description, settings, attributes and edges. A resource without a
row was created by other means; it has the version 1 and no metadata.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa

from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, TenantRows, metadata
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import fold_name
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces import registry

Settings = Mapping[str, object]
WITHHELD = "withheld"
"""The managed setting of fields that are hidden no more, until their values are stored no more."""


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
    # Who last changed its settings or edges, with how narrow their token was, as JSON; and when. In it are `parts`:
    # the authors of those that have their own, each with `at`.
    sa.Column("author", sa.Text),
    sa.Column("authored_at", IdType),
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
    for start in range(0, len(ids), _AT_ONCE):
        some = detail_table.c.resource_id.in_(ids[start : start + _AT_ONCE])
        for row in ctx.rows(detail_table).select(some).mappings():
            values = {name: row[name] for name in ResourceMetadata.__dataclass_fields__}
            found[row["resource_id"]] = ResourceMetadata(**values | {"settings": json.loads(row["settings"])})
    return found


@dataclass(frozen=True, slots=True)
class DefinitionAuthor:
    """The caller who last changed the settings or edges of a resource, and the moment."""

    caller: Caller
    at: Moment


WHOLE = ""
"""The part of a definition that is all of it but the parts with authors of their own."""
DefinitionAuthors = Mapping[str, DefinitionAuthor]
"""The authors of a definition by part. A part that is not in it has the author of the whole."""


def load_authors(ctx: RequestContext, uid: str) -> DefinitionAuthors:
    """Return the authors of a resource's definition; none if it was created by other means."""
    number = ctx.view.resource(uid)
    return _load_authors(ctx, detail_table.c.resource_id == number).get(number, {})


def load_all_authors(ctx: RequestContext) -> dict[int, DefinitionAuthors]:
    """Return the authors of all definitions of the tenant, by number."""
    return _load_authors(ctx, sa.true())


def _load_authors(ctx: RequestContext, which: sa.ColumnElement[bool]) -> dict[int, DefinitionAuthors]:
    c = detail_table.c
    columns = (c.resource_id, c.author, c.authored_at)
    rows = ctx.rows(detail_table).select(which, c.author.is_not(None), columns=columns)
    return {row.resource_id: _parse_authors(ctx, json.loads(row.author), row.authored_at) for row in rows}


def _parse_authors(ctx: RequestContext, stored: dict[str, Any], at: Moment) -> DefinitionAuthors:
    parts = stored.pop("parts", {})
    if stored:
        parts[WHOLE] = {**stored, "at": at}
    moments = {name: each.pop("at") for name, each in parts.items()}
    restore = partial(Caller.from_stored, ctx.caller.tenant, address=ctx.caller.address)
    return {name: DefinitionAuthor(restore(each), moments[name]) for name, each in parts.items()}


def load_author(ctx: RequestContext, uid: str, part: str = WHOLE) -> DefinitionAuthor | None:
    """Return the author of a definition, or of a part of it. None if it was created by other means."""
    found = load_authors(ctx, uid)
    return found.get(part) or found.get(WHOLE)


def create(
    ctx: RequestContext,
    uid: str,
    *,
    description: str = "",
    settings: Mapping[str, object] | None = None,
    authors: Mapping[str, Caller | None] | None = None,
) -> None:
    """Insert the metadata of a new resource, with the caller as its author unless others are given."""
    ctx.need_writable()
    values = {"description": valid_description(description), "settings": valid_settings(settings or {})}
    all_authors = {WHOLE: ctx.caller, **(authors or {})}
    ctx.rows(detail_table).insert(
        resource_id=ctx.view.resource(uid),
        version=1,
        created_at=ctx.at,
        created_by=ctx.caller.member,
        **values,
        **_editor(ctx),
        **_stored_authors({part: DefinitionAuthor(each, ctx.at) for part, each in all_authors.items() if each}),
    )


def save(
    ctx: RequestContext,
    uid: str,
    *,
    description: str | None = None,
    settings: Mapping[str, object] | None = None,
    authored: Collection[str] = (),
) -> int:
    """Save changed metadata and return the new version. `authored` are the parts of the definition that it changes."""
    ctx.need_writable()
    old = load(ctx, uid)
    values = {
        "description": old.description if description is None else valid_description(description),
        "settings": valid_settings(old.settings if settings is None else settings),
        "version": old.version + 1,
        **_editor(ctx),
        **_authored(ctx, uid, authored),
    }
    rows, number = ctx.rows(detail_table), ctx.view.resource(uid)
    if not rows.update(detail_table.c.resource_id == number, **values):
        rows.insert(resource_id=number, created_at=None, created_by="", **values)
    return old.version + 1


def _editor(ctx: RequestContext) -> dict[str, object]:
    return {"updated_at": ctx.at, "updated_by": ctx.caller.member}


def record_author(ctx: RequestContext, uid: str, authored: Collection[str] = (WHOLE,)) -> None:
    """Make the caller the author of parts of the definition that are stored elsewhere."""
    is_here = detail_table.c.resource_id == ctx.view.resource(uid)
    if not ctx.rows(detail_table).update(is_here, **_authored(ctx, uid, authored)):
        save(ctx, uid, authored=authored)


def take_over(ctx: RequestContext, uid: str) -> int:
    """Make the caller the author of the definition with all its parts, and return the new version."""
    version = save(ctx, uid)
    is_here = detail_table.c.resource_id == ctx.view.resource(uid)
    ctx.rows(detail_table).update(is_here, **_stored_authors({WHOLE: DefinitionAuthor(ctx.caller, ctx.at)}))
    return version


def _authored(ctx: RequestContext, uid: str, changed: Collection[str]) -> dict[str, object]:
    """Return the stored authors after a change of these parts by the caller. Others keep the author that they had."""
    if not changed:
        return {}
    before = load_authors(ctx, uid)
    schema = registry.find_settings_schema(ctx.view.kind(ctx.view.resource(uid)))
    kept = dict.fromkeys(schema.parts, before[WHOLE]) if schema and WHOLE in before else {}
    return _stored_authors({**kept, **before, **dict.fromkeys(changed, DefinitionAuthor(ctx.caller, ctx.at))})


def _stored_authors(authors: DefinitionAuthors) -> dict[str, object]:
    stored = {part: {**author.caller.to_stored(), "at": author.at} for part, author in authors.items()}
    whole: dict[str, object] = stored.pop(WHOLE, {})
    at = whole.pop("at", None)
    return {"author": json.dumps({**whole, "parts": stored} if stored else whole), "authored_at": at}


def save_managed(ctx: RequestContext, uid: str, managed: Mapping[str, object]) -> None:
    """Save settings that only the platform sets. This does not count as an edit of the resource."""
    before = load(ctx, uid).settings
    after = {**before, **managed}
    if after == before:
        return
    ctx.need_writable()
    is_here = detail_table.c.resource_id == ctx.view.resource(uid)
    ctx.rows(detail_table).update(is_here, settings=valid_settings(after))


def clear_deleted(ctx: RequestContext, number: int, kind: str) -> None:
    """Clear the settings of a deleted resource, unless it can come back with them."""
    if not registry.describe_kind(kind).restored_with_rows:
        clear(ctx.rows(detail_table), number)


def clear(rows: TenantRows, number: int) -> None:
    """Clear the settings of a resource in the rows of `detail_table`. Its description stays."""
    rows.update(detail_table.c.resource_id == number, settings="{}")


def need_version(ctx: RequestContext, uid: str, version: int | None) -> None:
    """Refuse if the version is not the one that the caller has read. None accepts any."""
    if version is None:
        return
    present = load(ctx, uid).version
    if present != version:
        raise VersionConflictError(
            f"It was changed meanwhile: version {version} was expected, but it is at version {present}.",
            "Reload it and apply the change again.",
        )


def valid_description(text: object) -> str:
    """Return the description, or refuse an invalid one."""
    if not isinstance(text, str):
        raise InvalidInputError(f"A description is a text, not {type(text).__name__}.")
    if len(text) > MAX_DESCRIPTION:
        raise InvalidInputError(f"The description has {len(text):,} characters.", f"Use at most {MAX_DESCRIPTION:,}.")
    if any(letter < " " and letter not in "\n\t" for letter in text) or not is_unicode(text):
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
    if not is_unicode(json.dumps(settings, ensure_ascii=False)):
        raise InvalidInputError("The settings contain an incomplete character.", "Use complete Unicode characters.")
    if _is_too_deep(settings):
        raise InvalidInputError(f"The settings are nested more than {_MAX_DEPTH} levels deep.", "Flatten them.")
    if len(encoded) > MAX_SETTINGS:
        raise InvalidInputError(
            f"The settings have {len(encoded):,} characters as JSON.", f"Use at most {MAX_SETTINGS:,}."
        )
    return encoded


def valid_for_kind(
    kind: str, before: Settings, settings: Settings | None, managed: Settings | None = None
) -> dict[str, object]:
    """Return the settings after an edit, validated by the schema of their kind.

    Empty settings are a draft: it can be saved and completed later. Settings that were stored before their schema was
    stricter stay readable; they must be right the next time they are saved. `managed` are those that only the platform
    sets: an edit need not repeat them, and may not change them.
    """
    schema = registry.find_settings_schema(kind)
    given = before if settings is None else settings
    if schema is None or not isinstance(given, Mapping):
        return {**given, **(managed or {})}
    stays = {name: before[name] for name in schema.managed if name in before}
    for name in schema.managed:
        if (given.get(name) or None) != (stays.get(name) or None) and name in given:
            raise InvalidSettingError(
                f"The setting {name} of a {schema.label} cannot be changed here.",
                "Use its own action, such as publish.",
                field=name,
            )
    after = {**given, **stays, **(managed or {})}
    if revealed := hidden_fields(kind, before) - hidden_fields(kind, after):
        # Their values are there without a run, which alone asks whether who shows them may read them.
        after[WITHHELD] = sorted(revealed | withheld_fields(before))
    schema.check(after)
    return after


def hidden_fields(kind: str, settings: Settings) -> set[str]:
    """Return the folded names of the fields that settings hide from all readers, and of those still withheld."""
    find = registry.describe_kind(kind).hidden_fields
    return {*map(fold_name, find(settings)), *withheld_fields(settings)} if find else set()


def withheld_fields(settings: Settings) -> set[str]:
    """Return the folded names of the fields that are hidden no more, and whose values may still be stored."""
    found = settings.get(WITHHELD)
    return set(found) if isinstance(found, list) else set()


def release_fields(ctx: RequestContext, uid: str, fields: Collection[str]) -> None:
    """Withhold fields no more, as their values are stored no more."""
    withheld = withheld_fields(load(ctx, uid).settings)
    if withheld.intersection(fields):
        save_managed(ctx, uid, {WITHHELD: sorted(withheld.difference(fields))})


def without_managed(kind: str, settings: Settings) -> dict[str, object]:
    """Return the settings without those that only the platform sets."""
    schema = registry.find_settings_schema(kind)
    return {name: value for name, value in settings.items() if schema is None or name not in schema.managed}


def changed_parts(kind: str, before: Settings, after: Settings) -> frozenset[str]:
    """Return the parts of a definition in which settings differ, other than in how they are written, or in those that
    only the platform sets.
    """
    schema = registry.find_settings_schema(kind)
    if schema is None:
        return frozenset() if before == after else frozenset({WHOLE})
    return schema.changed_parts(before, after)


def find_problems(kind: str, settings: Settings) -> list[InvalidSettingError]:
    """Return what is wrong with stored settings; nothing for a draft."""
    schema = registry.find_settings_schema(kind)
    return schema.problems(settings) if schema is not None else []


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


def is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
