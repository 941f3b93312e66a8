"""The transactional outbox: mails and webhooks that are sent once their transaction has been committed.

A row is written with the change that it reports, so that neither is without the other. The worker sends it and records
that it did; a crash between the two may send it twice, never not at all.
"""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import IdType, TenantRows, Transaction, metadata

outbox_table = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, server_default="mail"),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("due_at", IdType, nullable=False),
    sa.Column("receiver", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    # Encrypted: a mail may carry a link that signs somebody in.
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("sent_at", IdType),
    sa.Column("error", sa.Text, nullable=False),
    # Workflows are named by these numbers: that of a deleted message is not used again.
    sqlite_autoincrement=True,
)
sa.Index("outbox_due", outbox_table.c.sent_at, outbox_table.c.due_at)

MAIL, WEBHOOK = "mail", "webhook"
MOST_TRIES = 10
_FIRST_WAIT = 30 * SECOND


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A mail or webhook that waits to be sent. The body is encrypted, as it lies in the database."""

    id: int
    receiver: str
    subject: str
    body: str
    tries: int
    kind: str = MAIL
    tenant_id: int = 0
    made_at: Moment = 0

    @property
    def attempt(self) -> str:
        """The name of this attempt to send it. The number alone would be that of another one in a database that was
        restored from a backup, while what sends them remembers the names.
        """
        return f"{self.id}-{self.made_at}-{self.tries}"


_UNSENT = sa.select(*(outbox_table.c[name] for name in OutboxMessage.__dataclass_fields__)).where(
    outbox_table.c.sent_at.is_(None)
)


def enqueue(
    transaction: Transaction, tenant: int, at: Moment, *, receiver: str, subject: str, body: str, kind: str = MAIL
) -> None:
    """Enqueue a message, which is sent after the commit."""
    message = {"kind": kind, "receiver": receiver, "subject": subject, "body": body}
    TenantRows(transaction, tenant, outbox_table).insert(made_at=at, due_at=at, tries=0, error="", **message)


def due_messages(
    transaction: Transaction, at: Moment, limit: int = 20, kinds: Collection[str] = (MAIL, WEBHOOK)
) -> list[OutboxMessage]:
    """Return the messages that are due, oldest first."""
    c = outbox_table.c
    due = _UNSENT.where(c.due_at <= at, c.tries < MOST_TRIES, c.kind.in_(kinds)).order_by(c.id).limit(limit)
    return [OutboxMessage(*row) for row in transaction.connection.execute(due)]


def unsent_message(transaction: Transaction, number: int, tries: int) -> OutboxMessage | None:
    """Return the message of this number, unless it was sent or tried again since."""
    query = _UNSENT.where(outbox_table.c.id == number, outbox_table.c.tries == tries)
    found = transaction.connection.execute(query).first()
    return None if found is None else OutboxMessage(*found)


def mark_sent(transaction: Transaction, message: OutboxMessage, at: Moment) -> None:
    """Record that a message was sent, and erase its body."""
    _update(transaction, message, sent_at=at, body="", tries=message.tries + 1, error="")


def mark_failed(transaction: Transaction, message: OutboxMessage, at: Moment, error: str) -> None:
    """Record a failed attempt, and schedule the next one with exponential backoff."""
    _update(
        transaction, message, due_at=at + (_FIRST_WAIT << message.tries), tries=message.tries + 1, error=error[:500]
    )


def _update(transaction: Transaction, message: OutboxMessage, **values: object) -> None:
    transaction.connection.execute(outbox_table.update().where(outbox_table.c.id == message.id).values(**values))
