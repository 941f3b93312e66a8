"""The tables of curation. Acts are only appended; undoing one sets `undone_by` to the act that undid it."""

import sqlalchemy as sa

from lakehold.kit.database import ExactText, IdType, metadata

act_table = sa.Table(
    "curation_act",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # The data product, in all of these tables.
    sa.Column("resource_id", IdType, primary_key=True),
    # Counts from 1 in each data product, in the order of their commits.
    sa.Column("number", IdType, primary_key=True),
    sa.Column("kind", ExactText, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    # 0 while it is in force.
    sa.Column("undone_by", IdType, nullable=False),
)

subject_table = sa.Table(
    "curation_subject",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    # A record or an entity that the act speaks of.
    sa.Column("subject", ExactText, primary_key=True),
    sa.Column("number", IdType, primary_key=True),
)

pair_table = sa.Table(
    "curation_pair",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("record_a", ExactText, primary_key=True),
    sa.Column("record_b", ExactText, primary_key=True),
    # Its place among the pairs of the run, from 1.
    sa.Column("rank", IdType, nullable=False),
    sa.Column("run", ExactText, nullable=False),
    sa.Column("probability", sa.Float, nullable=False),
    sa.Column("value", sa.Float, nullable=False),
    sa.Column("entity_a", ExactText, nullable=False),
    sa.Column("entity_b", ExactText, nullable=False),
    # How many records the two entities have together.
    sa.Column("size", IdType, nullable=False),
    sa.Column("state", ExactText, nullable=False),
    # The act that decided it; 0 while it is open.
    sa.Column("act", IdType, nullable=False),
    # Empty if it is nobody's.
    sa.Column("assigned_to", ExactText, nullable=False),
    sa.Column("assigned_at", IdType, nullable=False),
)
sa.Index(
    "curation_pair_by_rank", pair_table.c.tenant_id, pair_table.c.resource_id, pair_table.c.state, pair_table.c.rank
)

suggestion_table = sa.Table(
    "curation_suggestion",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("number", IdType, primary_key=True),
    sa.Column("entities", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("state", ExactText, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("decided_by", ExactText, nullable=False),
    sa.Column("decided_at", IdType, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    # The merge, once it is accepted.
    sa.Column("act", IdType, nullable=False),
)

view_table = sa.Table(
    "curation_view",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("id", ExactText, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("folded_name", ExactText, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("changed_by", ExactText, nullable=False),
    sa.Column("changed_at", IdType, nullable=False),
)
sa.Index(
    "curation_view_by_name",
    view_table.c.tenant_id,
    view_table.c.resource_id,
    view_table.c.folded_name,
    unique=True,
)
