"""The versions of data products: the snapshots of their tables that belong together, and which one is published."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import ConflictError
from lakehold.workspaces.products.product_tables import ProductTable

version_table = sa.Table(
    "product_version",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("product_id", IdType, primary_key=True),
    sa.Column("number", IdType, primary_key=True),
    # The run that has made it, of which a step that is repeated finds its version again.
    sa.Column("run", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("snapshots", sa.Text, nullable=False),
    sa.Column("counts", sa.Text, nullable=False),
    # 0 as long as it is not published.
    sa.Column("published_at", IdType, nullable=False),
    sa.Column("published_by", ExactText, nullable=False),
)


@dataclass(frozen=True, slots=True)
class ProductVersion:
    """A version of a data product."""

    number: int
    run: str
    made_at: Moment
    snapshots: Mapping[ProductTable, int]
    """The snapshot of each of its tables."""
    counts: Mapping[str, int]
    """How many records and entities it has, and how many entities are new, changed, merged, split or gone."""
    published_at: Moment = 0
    published_by: str = ""


def list_versions(ctx: RequestContext, product: str, limit: int = 100) -> list[ProductVersion]:
    """Return the versions of a data product, newest first."""
    found = ctx.rows(version_table).select(
        version_table.c.product_id == ctx.view.resource(product), order_by=(version_table.c.number.desc(),), limit=limit
    )
    return [_version(row) for row in found]


def find_newest(ctx: RequestContext, product: str) -> ProductVersion | None:
    """Return the newest version, published or not."""
    return next(iter(list_versions(ctx, product, 1)), None)


def find_published(ctx: RequestContext, product: str) -> ProductVersion | None:
    """Return the version that was published last."""
    c = version_table.c
    found = ctx.rows(version_table).select(
        c.product_id == ctx.view.resource(product),
        c.published_at > 0,
        order_by=(c.published_at.desc(), c.number.desc()),
        limit=1,
    )
    return next((_version(row) for row in found), None)


def need_newest(ctx: RequestContext, product: str) -> ProductVersion:
    """Return the newest version, or refuse if no run has made one."""
    found = find_newest(ctx, product)
    if found is None:
        raise ConflictError("The data product has no version yet.", "Run it first.")
    return found


def save(
    ctx: RequestContext, product: str, run: str, snapshots: Mapping[ProductTable, int], counts: Mapping[str, int]
) -> int:
    """Save the version that a run has made, once, and return its number."""
    rows, c, number = ctx.rows(version_table), version_table.c, ctx.view.resource(product)
    saved = next(iter(rows.select(c.product_id == number, c.run == run, limit=1)), None)
    if saved is not None:
        return int(saved.number)
    newest = find_newest(ctx, product)
    following = newest.number + 1 if newest else 1
    rows.insert(
        product_id=number,
        number=following,
        run=run,
        made_at=ctx.at,
        snapshots=json.dumps({table.value: snapshot for table, snapshot in snapshots.items()}),
        counts=json.dumps(dict(counts)),
        published_at=0,
        published_by="",
    )
    return following


def publish(ctx: RequestContext, product: str, number: int) -> None:
    """Make a version the published one."""
    c = version_table.c
    which = (c.product_id == ctx.view.resource(product), c.number == number, c.published_at == 0)
    if ctx.rows(version_table).update(*which, published_at=ctx.at, published_by=ctx.caller.member):
        ctx.note("publish", product, after={"version": number})


def _version(row: Any) -> ProductVersion:  # noqa: ANN401 - a row
    snapshots = {ProductTable(name): each for name, each in json.loads(row.snapshots).items()}
    counts = json.loads(row.counts)
    published = (row.published_at, row.published_by)
    return ProductVersion(row.number, row.run, row.made_at, snapshots, counts, *published)
