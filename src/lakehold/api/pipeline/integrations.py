"""Integrations: the token with which a tool reads their tables."""

from __future__ import annotations

from pydantic import Field

from lakehold.api.frame.models import Answer, Body, IdText
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Creating
from lakehold.directory.tokens import DEFAULT_DAYS, MAX_DAYS
from lakehold.workspaces.lakehouse import integrations

routes = router("/api/v1/integrations", "Integrations")


class NewWayIn(Body):
    """How long it is open."""

    days: int | None = Field(default=DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="Null for one without end.")


class WayIn(Answer):
    """A token for a tool; its secret is never shown again."""

    token: str = Field(examples=["4fK0aQx9Zb"], description="Its id, to revoke it by.")
    secret: str = Field(examples=["lh_4fK0aQx9Zb_…"])
    tables: list[str] = Field(examples=[["orders"]], description="What it reads: /api/v1/tables/{table}/rows.")


@routes.post("/{integration}/tokens", status_code=201)
def open_integration(ctx: Creating, integration: IdText, body: NewWayIn) -> WayIn:
    """A token that reads the integration's tables and nothing else, as you and for as long as you may."""
    made = integrations.create_token(ctx, integration, body.days)
    return WayIn(token=made.token.id, secret=made.secret, tables=sorted(made.token.resources or ()))
