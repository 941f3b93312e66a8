"""The match state of a data product: the trained model, and the records and pairs that it was last used on."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import ExactText, IdType, metadata

state_table = sa.Table(
    "product_match_state",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("product_id", IdType, primary_key=True),
    # The step that has saved it.
    sa.Column("mark", ExactText, nullable=False),
    # What was matched: a digest of attributes and rules.
    sa.Column("digest", ExactText, nullable=False),
    sa.Column("records_snapshot", IdType, nullable=False),
    sa.Column("pairs_snapshot", IdType, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("report", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class MatchState:
    """The state that the last matching has left."""

    mark: str
    digest: str
    records_snapshot: int
    pairs_snapshot: int
    model: str
    """The trained model, as JSON."""
    report: str
    """What was compared, and with which expected precision, as JSON."""


def load(ctx: RequestContext, product: str) -> MatchState | None:
    """Return the state of the last matching; None if there was none."""
    which = state_table.c.product_id == ctx.view.resource(product)
    return next((_state(row) for row in ctx.rows(state_table).select(which)), None)


def save(ctx: RequestContext, product: str, state: MatchState) -> None:
    """Save the state in place of the one before."""
    rows, number = ctx.rows(state_table), ctx.view.resource(product)
    values = {
        "mark": state.mark,
        "digest": state.digest,
        "records_snapshot": state.records_snapshot,
        "pairs_snapshot": state.pairs_snapshot,
        "model": state.model,
        "report": state.report,
    }
    if not rows.update(state_table.c.product_id == number, **values):
        rows.insert(product_id=number, **values)


def _state(row: Any) -> MatchState:  # noqa: ANN401 - a row
    return MatchState(row.mark, row.digest, row.records_snapshot, row.pairs_snapshot, row.model, row.report)
