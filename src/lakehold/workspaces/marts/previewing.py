"""What the message of a report would say, of the rows that it has for the caller now.

Whether somebody may ask is asked in a transaction (`asked`); the rows are read outside of one (`written`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs import asking
from lakehold.workspaces.marts import reporting
from lakehold.workspaces.marts.messages.first import First
from lakehold.workspaces.marts.messages.message import IN_CHAT, Message, Written
from lakehold.workspaces.told import SettingsReader

_ROWS = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that the caller may see."""

    caller: Caller
    text: str
    """The query."""
    message: Message
    name: str
    day: str


def checked(ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str) -> None:
    """Refuse a report whose message speaks of what it does not have: before it is saved."""
    told = SettingsReader(settings, reporting.WORD)
    if template := told.text("message", ""):
        Message(template).check(reporting.columns(ctx, lake, told, mart))


def asked(ctx: RequestContext, lake: IcebergCatalog, settings: Mapping[str, Any], mart: str, name: str) -> Asked:
    """Refuse unless the caller may use the mart, and the message can be written."""
    readable_tables.refuse_impersonation(ctx)
    checked(ctx, lake, settings, mart)
    told = SettingsReader(settings, reporting.WORD)
    message = Message(told.text("message", "") or IN_CHAT)
    text = reporting.text(ctx, lake, told, mart)
    return Asked(ctx.caller, text, message, name, reporting.today(ctx, told))


def written(platform: Platform, asked: Asked) -> Written:
    """What it says."""
    uid = f"q_{secrets.token_hex(12)}"
    with asking.ask(platform, asked.caller, uid=uid, workspace="", text=asked.text, rows=_ROWS) as found:
        columns = tuple(found.batches.schema.names)
        rows = [
            row
            for batch in found.batches
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]
    return asked.message.written(First(asked.name, asked.day, columns, rows, len(rows), found.complete))
