"""The log of changed facts. Its sequence numbers are in commit order, so that a reader who has seen number n
has seen everything that can ever come before n.

A plain serial number is drawn when a row is written, not when it is committed: a transaction that draws 7 and commits
after 8 would be missed by everybody who has read up to 8. Here the number is drawn at the very end, behind a lock
that is held until the commit is visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import Id, Transaction, metadata

change_table = sa.Table(
    "change",
    metadata,
    sa.Column("tenant_id", Id, primary_key=True),
    sa.Column("seq", Id, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("made_at", Id, nullable=False),
    sa.Column("fact", sa.Text, nullable=False),
    sa.Column("fact_id", Id, nullable=False),
    sa.Column("was_until", Id, nullable=False),
    sa.Column("until", Id, nullable=False),
)

_LOCK = 0x4C414B45
_HEAD = sa.text("SELECT max(seq) FROM change WHERE tenant_id = :tenant")
_PLACES = {
    "sqlite": (":tenant", ":seq"),
    "postgresql": ("%(tenant)s", "%(seq)s"),
}
"""As each driver takes them: every transaction begins with `since`, and what lies between takes as long as the answer.
"""


class Entry(NamedTuple):
    """A fact that began (it was until 0), or whose end was moved."""

    fact: str
    fact_id: int
    was_until: Moment
    until: Moment


class Logged(NamedTuple):
    """An entry with its place in the log, and what was asked for beside it."""

    seq: int
    made_at: Moment
    entry: Entry
    beside: str


def head(transaction: Transaction, tenant: int) -> int:
    """The number of the last change that this transaction sees; 0 before the first."""
    found = transaction.connection.execute(_HEAD, {"tenant": tenant}).scalar()
    return int(found or 0)


def last_made(transaction: Transaction, tenant: int) -> Moment:
    """When the last change that this transaction sees was made, by the clock of who made it."""
    found = transaction.connection.execute(
        sa.text("SELECT max(made_at) FROM change WHERE tenant_id = :tenant AND seq = :seq"),
        {"tenant": tenant, "seq": head(transaction, tenant)},
    ).scalar()
    return int(found or 0)


def append(transaction: Transaction, tenant: int, made_at: Moment, entries: Sequence[Entry]) -> int:
    """Number the entries. Called as the last thing before the commit."""
    if transaction.dialect == "postgresql":
        transaction.connection.execute(
            sa.text("SELECT pg_advisory_xact_lock(:lock, :tenant)"), {"lock": _LOCK, "tenant": tenant % 2**31}
        )
        seq = int(transaction.connection.execute(sa.text("SELECT nextval('change_seq')")).scalar_one())
    else:
        seq = head(transaction, tenant) + 1
    rows = [
        {"tenant_id": tenant, "seq": seq, "n": n, "made_at": made_at, **entry._asdict()}
        for n, entry in enumerate(entries)
    ]
    transaction.connection.execute(change_table.insert(), rows)
    return seq


@cache
def _since(dialect: str, beside: str) -> str:
    tenant, seq = _PLACES[dialect]
    # The texts are our own; what comes from outside is bound.
    return (
        f"SELECT head.seq, c.seq, c.made_at, {beside}, c.fact, c.fact_id, c.was_until, c.until"  # noqa: S608
        f" FROM (SELECT max(seq) AS seq FROM change WHERE tenant_id = {tenant}) AS head"
        f" LEFT JOIN change AS c ON c.tenant_id = {tenant} AND c.seq > {seq} ORDER BY c.seq, c.n"
    )


def since(transaction: Transaction, tenant: int, seq: int, beside: str) -> tuple[int, list[Logged]]:
    """The number of the last change that this transaction sees, and everything after the given number, in order,
    each with what an expression over its entry `c` comes to.

    In one question: every transaction begins with it, and to a database far away the way is what takes time.
    """
    text = _since(transaction.dialect, beside)
    found = transaction.connection.exec_driver_sql(text, {"tenant": tenant, "seq": seq}).all()
    news = [Logged(seq, made_at, Entry(*rest), told) for _, seq, made_at, told, *rest in found if seq is not None]
    return int(found[0][0] or 0), news
