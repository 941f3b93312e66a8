"""What is to be sent once the transaction that says so has been committed: mails and webhooks.

A row is written with the change it tells of, so that neither is without the other. The worker sends it and writes down
that it did; a crash between the two may send it twice, never not at all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import Id, Transaction, metadata

outbox_table = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", Id, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", Id, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, server_default="mail"),
    sa.Column("made_at", Id, nullable=False),
    sa.Column("due_at", Id, nullable=False),
    sa.Column("receiver", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    # Encrypted: a mail may carry a link that signs somebody in.
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("sent_at", Id),
    sa.Column("error", sa.Text, nullable=False),
)
sa.Index("outbox_due", outbox_table.c.sent_at, outbox_table.c.due_at)

MAIL, WEBHOOK = "mail", "webhook"
MOST_TRIES = 10
_FIRST_WAIT = 30 * SECOND


@dataclass(frozen=True, slots=True)
class Mail:
    """What waits to be sent. The body is as it lies in the database: encrypted."""

    id: int
    receiver: str
    subject: str
    body: str
    tries: int
    kind: str = MAIL


def put(
    transaction: Transaction, tenant: int, at: Moment, *, receiver: str, subject: str, body: str, kind: str = MAIL
) -> None:
    """Let it be sent after the commit."""
    transaction.connection.execute(
        outbox_table.insert().values(
            tenant_id=tenant,
            kind=kind,
            made_at=at,
            due_at=at,
            receiver=receiver,
            subject=subject,
            body=body,
            tries=0,
            sent_at=None,
            error="",
        )
    )


def due(transaction: Transaction, at: Moment, limit: int = 20, kinds: Collection[str] = (MAIL, WEBHOOK)) -> list[Mail]:
    """What is to be sent by now, oldest first."""
    c = outbox_table.c
    query = (
        sa.select(c.id, c.receiver, c.subject, c.body, c.tries, c.kind)
        .where(c.sent_at.is_(None), c.due_at <= at, c.tries < MOST_TRIES, c.kind.in_(kinds))
        .order_by(c.id)
        .limit(limit)
    )
    return [Mail(*row) for row in transaction.connection.execute(query)]


def unsent(transaction: Transaction, number: int, tries: int) -> Mail | None:
    """The mail of this number, unless it was sent or tried again since."""
    c = outbox_table.c
    query = sa.select(c.id, c.receiver, c.subject, c.body, c.tries, c.kind).where(
        c.id == number, c.tries == tries, c.sent_at.is_(None)
    )
    found = transaction.connection.execute(query).first()
    return None if found is None else Mail(*found)


def sent(transaction: Transaction, mail: Mail, at: Moment) -> None:
    """Write down that it was sent. What it said is not kept."""
    _update(transaction, mail, sent_at=at, body="", tries=mail.tries + 1, error="")


def failed(transaction: Transaction, mail: Mail, at: Moment, error: str) -> None:
    """Try again later, each time waiting twice as long."""
    _update(transaction, mail, due_at=at + (_FIRST_WAIT << mail.tries), tries=mail.tries + 1, error=error[:500])


def _update(transaction: Transaction, mail: Mail, **values: object) -> None:
    transaction.connection.execute(outbox_table.update().where(outbox_table.c.id == mail.id).values(**values))
