"""The log of changed facts. Its sequence numbers are in commit order, so that a reader who has seen number n
has seen everything that can ever come before n.

A plain serial number is drawn when a row is written, not when it is committed: a transaction that draws 7 and commits
after 8 would be missed by everybody who has read up to 8. Here the number is drawn at the very end, behind a lock
that is held until the commit is visible.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.kit.clock import Moment
from lakehold.kit.database import IdType, Transaction, metadata

change_table = sa.Table(
    "change",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("seq", IdType, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("fact", sa.Text, nullable=False),
    sa.Column("fact_id", IdType, nullable=False),
    sa.Column("was_until", IdType, nullable=False),
    sa.Column("until", IdType, nullable=False),
)

_LOCK = 0x4C414B45
_HEAD = sa.text("SELECT max(seq) FROM change WHERE tenant_id = :tenant")
_PLACES = {
    "sqlite": (":tenant", ":seq"),
    "postgresql": ("%(tenant)s", "%(seq)s"),
}
"""As each driver takes them: every transaction begins with `since`, and a layer between takes as long as the answer."""


class ChangeLogEntry(NamedTuple):
    """A fact that began (`was_until` is 0), or whose end was moved."""

    fact: str
    fact_id: int
    was_until: Moment
    until: Moment


class LoggedChange(NamedTuple):
    """A change with its place in the log, and the value of the extra column that was asked for."""

    seq: int
    made_at: Moment
    entry: ChangeLogEntry
    extra: str


def head_seq(transaction: Transaction, tenant: int) -> int:
    """Return the number of the last change that this transaction sees; 0 before the first."""
    found = transaction.connection.execute(_HEAD, {"tenant": tenant}).scalar()
    return int(found or 0)


def last_change_time(transaction: Transaction, tenant: int) -> Moment:
    """Return the time of the last change that this transaction sees, by the clock of its writer."""
    found = transaction.connection.execute(
        sa.text("SELECT max(made_at) FROM change WHERE tenant_id = :tenant AND seq = :seq"),
        {"tenant": tenant, "seq": head_seq(transaction, tenant)},
    ).scalar()
    return int(found or 0)


def append_changes(transaction: Transaction, tenant: int, made_at: Moment, entries: Sequence[ChangeLogEntry]) -> int:
    """Write changes to the log under the next number. Called as the last thing before the commit."""
    if transaction.dialect == "postgresql":
        transaction.connection.execute(
            sa.text("SELECT pg_advisory_xact_lock(:lock, :tenant)"), {"lock": _LOCK, "tenant": tenant % 2**31}
        )
        seq = int(transaction.connection.execute(sa.text("SELECT nextval('change_seq')")).scalar_one())
    else:
        seq = head_seq(transaction, tenant) + 1
    rows = [
        {"tenant_id": tenant, "seq": seq, "n": n, "made_at": made_at, **entry._asdict()}
        for n, entry in enumerate(entries)
    ]
    transaction.connection.execute(change_table.insert(), rows)
    return seq


@cache
def _since_query(dialect: str, extra_column: str) -> str:
    tenant, seq = _PLACES[dialect]
    # The texts are our own; what comes from outside is bound.
    return (
        f"SELECT head.seq, c.seq, c.made_at, {extra_column}, c.fact, c.fact_id, c.was_until, c.until"  # noqa: S608
        f" FROM (SELECT max(seq) AS seq FROM change WHERE tenant_id = {tenant}) AS head"
        f" LEFT JOIN change AS c ON c.tenant_id = {tenant} AND c.seq > {seq} ORDER BY c.seq, c.n"
    )


def changes_since(transaction: Transaction, tenant: int, seq: int, extra_column: str) -> tuple[int, list[LoggedChange]]:
    """Return the number of the last change that this transaction sees, and all changes after the given number, in
    order, each with the value of an SQL expression over its entry `c`.

    One round trip: every transaction begins with it, and to a remote database the round trip is what takes time.
    """
    text = _since_query(transaction.dialect, extra_column)
    found = transaction.connection.exec_driver_sql(text, {"tenant": tenant, "seq": seq}).all()
    news = [
        LoggedChange(seq, made_at, ChangeLogEntry(*rest), extra)
        for _, seq, made_at, extra, *rest in found
        if seq is not None
    ]
    return int(found[0][0] or 0), news
