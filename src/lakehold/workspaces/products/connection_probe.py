"""The right to probe the connection of a source or a destination, saved or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakehold.access import Draft
from lakehold.catalog import credentials, kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables


@dataclass(frozen=True, slots=True)
class ConnectionProbe:
    """A source or destination to probe: an existing one with other settings, or one that would be created."""

    kind: str
    uid: str = ""
    project: str = ""
    """The project in which it would be created."""
    settings: Mapping[str, object] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are saved, or beside them."""


def need_probe(ctx: RequestContext, target: ConnectionProbe) -> Caller:
    """Return the caller if they may edit the resource, or create it; it contacts another system and shows data."""
    readable_tables.refuse_impersonation(ctx)
    if target.uid:
        kinds.need_right(ctx, target.uid, "edit")
    else:
        ctx.need_visible(target.project)
        ctx.need_draft(Draft(target.kind, {"project": target.project}))
    return ctx.caller


def probe_secrets(ctx: RequestContext, target: ConnectionProbe) -> dict[str, str]:
    """Return the secrets of the connection, which must never be part of a response."""
    stored = credentials.load_for_test(ctx, target.uid, target.settings) if target.uid else {}
    return {**stored, **target.secrets}
