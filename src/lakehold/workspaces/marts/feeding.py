"""What feeds a data mart that has a connector of its own: looked at before it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lakehold.catalog import credentials
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.runs import asking
from lakehold.workspaces.marts import nouns


@dataclass(frozen=True, slots=True)
class Feed:
    """The settings of a data mart that is there, or of one that would be made in a project."""

    settings: Mapping[str, object]
    mart: str = ""
    project: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""
    stream: str = ""
    """The one that a sample is wanted of; without one, streams are told."""


def may_look(ctx: RequestContext, asked: Feed) -> None:
    """Refuse unless the caller may edit the data mart, or make one there. Their own eyes only: it shows data."""
    readable_tables.refuse_impersonation(ctx)
    if not asked.mart:
        ctx.need_visible(asked.project)
        ctx.need("create_data_mart", asked.project)
        return
    nouns.need(ctx, asked.mart, nouns.DATA_MART, "edit")


def look(platform: Platform, caller: Caller, asked: Feed) -> dict[str, Any]:
    """What there is, outside of the transaction in which it was asked whether the caller may look."""
    return asking.look_at_feed(platform, caller, asdict(asked))


def secrets(ctx: RequestContext, asked: Feed) -> dict[str, str]:
    """What it is connected to with. Never for an answer."""
    kept = credentials.load_for_test(ctx, asked.mart, asked.settings) if asked.mart else {}
    return {**kept, **asked.secrets}
