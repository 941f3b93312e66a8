"""Integrations: read-only access for other tools to chosen tables, as the member who created the token.

The tokens of a deactivated integration are refused; which tables it reads, of those that its author may read, is
evaluated each time.
"""

from lakehold.catalog import resource_edit
from lakehold.catalog.integration_reads import ACTIVE, OFF, READS
from lakehold.directory import tokens
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote
from lakehold.workspaces.graph import edge_targets, need_kind

INTEGRATION_KIND = "lakehouse.integration"
TOKEN_ACTIONS = ("see", "read")


def create_token(ctx: RequestContext, uid: str, days: int | None = None) -> tokens.CreatedToken:
    """Return a token that reads the integration's tables and nothing else, limited by its member's rights."""
    need_kind(ctx, uid, "edit", (INTEGRATION_KIND,), refusal="A {} is not an integration.", hint="Choose one.")
    reads = edge_targets(ctx, uid, READS)
    if not reads:
        raise ConflictError(f"The integration {quote(uid)} reads no table.", "Let it read at least one.")
    name = f"Integration {ctx.view.names.get(ctx.view.resource(uid)) or uid}"
    return tokens.create(ctx, name[:200], days=days, actions=TOKEN_ACTIONS, resources=reads, integration=uid)


def set_active(ctx: RequestContext, uid: str, *, active: bool) -> None:
    """Activate or deactivate the integration."""
    resource_edit.apply_edit(ctx, uid, resource_edit.ResourceEdit(attributes={ACTIVE: "true" if active else OFF}))
