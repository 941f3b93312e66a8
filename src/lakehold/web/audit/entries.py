"""Renders audit entries as rows for pages: member, channel, resource and changed fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.ledger.audit import DENIED, AuditLogEntry, NumberedEntry
from lakehold.web import urls
from lakehold.web.components import FieldChange
from lakehold.web.labels import humanize, icon_of


@dataclass(frozen=True, slots=True)
class AuditEntryRow:
    """An audit entry with its labels and links, as pages show it."""

    n: int
    hash: str
    entry: AuditLogEntry
    who: str
    """The name of who did it, as it was then."""
    who_at: str
    """Their page, if there is one to see."""
    what: str
    what_at: str
    icon: str
    deed: str
    denied: bool
    through: str
    """The token or the impersonation through which it was done."""
    changes: tuple[FieldChange, ...]


def entry_rows(ctx: RequestContext, found: list[NumberedEntry]) -> list[AuditEntryRow]:
    """Return the rows of entries for the caller. Only resources that the caller may see are links."""
    eyes = VisibleRefs(ctx)
    return [_entry_row(ctx, eyes, numbered) for numbered in found]


def _entry_row(ctx: RequestContext, eyes: VisibleRefs, numbered: NumberedEntry) -> AuditEntryRow:
    entry = numbered.entry
    return AuditEntryRow(
        n=numbered.n,
        hash=numbered.hash,
        entry=entry,
        who=entry.member_name or entry.member or "The installation",
        who_at=urls.member(entry.member) if entry.member and eyes.sees(entry.member) else "",
        what=entry.resource_name or entry.resource,
        what_at=_resource_address(ctx, eyes, entry),
        icon=icon_of(entry.kind) if entry.kind else "",
        deed=humanize(entry.action),
        denied=entry.outcome == DENIED,
        through=_describe_channel(ctx, entry),
        changes=field_changes(entry.before, entry.after),
    )


def field_changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[FieldChange, ...]:
    """Return the differences between two mappings field by field, in their recorded order."""
    names = list(dict.fromkeys([*before, *after]))
    both = ((name, _format_value(before, name), _format_value(after, name)) for name in names)
    return tuple(FieldChange(humanize(name), was, now) for name, was, now in both)


def _resource_address(ctx: RequestContext, eyes: VisibleRefs, entry: AuditLogEntry) -> str:
    if not entry.resource or not eyes.sees(entry.resource):
        return ""
    if entry.resource == ctx.caller.tenant:
        return ""
    return urls.for_kind(entry.resource, entry.kind)


def _describe_channel(ctx: RequestContext, entry: AuditLogEntry) -> str:
    if entry.viewing_as:
        number = ctx.view.ids.get(entry.viewing_as)
        name = ctx.view.names.get(number) if number is not None else None
        return f"viewing as {name or entry.viewing_as}"
    return "through a token" if entry.token else ""


def _format_value(values: Mapping[str, object], name: str) -> str | None:
    if name not in values:
        return None
    value = values[name]
    match value:
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case list() if all(isinstance(each, str) for each in value):
            return ", ".join(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
