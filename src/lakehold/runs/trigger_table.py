"""Where triggers are written down."""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa

from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.runs.when import When

trigger_table = sa.Table(
    "run_trigger",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("tenant", ExactText, nullable=False),
    # What is run.
    sa.Column("resource_id", IdType, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    # As whom: whoever saved it last, as JSON.
    sa.Column("caller", sa.Text, nullable=False),
    sa.Column("saved_by", ExactText, nullable=False),
    sa.Column("saved_at", IdType, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    # Of those whose success is waited for: the run of each that has been heard of.
    sa.Column("heard", sa.Text, nullable=False),
    sa.Column("next_at", IdType),
    sa.Column("last_at", IdType),
)
sa.Index("run_trigger_due", trigger_table.c.active, trigger_table.c.next_at)
sa.Index("run_trigger_by_resource", trigger_table.c.tenant_id, trigger_table.c.resource_id)

TriggerRow = sa.Row[tuple[object, ...]]


def at(here: Mapping[str, object]) -> list[sa.ColumnElement[bool]]:
    """Where the row with these values is."""
    return [trigger_table.c[name] == value for name, value in here.items()]


def when_of(row: TriggerRow) -> When:
    """When it is due. What it comes after is by number: a name may change."""
    told = json.loads(row.settings)
    return When(told["cron"], told["zone"], tuple(told["after"]), told["every"])


def parameters_of(row: TriggerRow) -> dict[str, str]:
    """What its runs are asked to do instead of all."""
    found: dict[str, str] = json.loads(row.settings).get("parameters", {})
    return found
