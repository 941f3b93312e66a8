"""The stored profiles of sources: one for each, as of its last refresh."""

import json

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import IdType, metadata
from lakehold.workspaces.products.profiles import SourceProfile

profile_table = sa.Table(
    "product_source_profile",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("source_id", IdType, primary_key=True),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("profile", sa.Text, nullable=False),
)


def save(ctx: RequestContext, source: str, profile: SourceProfile) -> None:
    """Save the profile of a source in place of the one before."""
    rows, number = ctx.rows(profile_table), ctx.view.resource(source)
    values = {"made_at": ctx.at, "profile": json.dumps(profile.to_json())}
    if not rows.update(profile_table.c.source_id == number, **values):
        rows.insert(source_id=number, **values)


def load(ctx: RequestContext, source: str) -> tuple[SourceProfile, Moment] | None:
    """Return the profile of a source and when it was made; None if it was never refreshed. Who sees the source reads
    its rows, and so the values too; who views as somebody else reads counts alone.
    """
    found = ctx.rows(profile_table).select(profile_table.c.source_id == ctx.view.resource(source))
    row = next(iter(found), None)
    if row is None:
        return None
    profile = SourceProfile.from_json(json.loads(row.profile))
    return profile.without_values() if ctx.caller.impersonator else profile, row.made_at
