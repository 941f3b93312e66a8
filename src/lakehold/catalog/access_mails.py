"""Mails to members about requests and reviews, where mail is configured and they have an address."""

from __future__ import annotations

from collections.abc import Iterable

from lakehold.directory import accounts
from lakehold.directory.request_context import RequestContext
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox


def queue_mails(ctx: RequestContext, settings: Settings | None, members: Iterable[str], subject: str, body: str) -> int:
    """Queue a mail for each of the members in the outbox, and return how many have an address."""
    if settings is None or not settings.smtp.get_secret_value():
        return 0
    numbers = [number for member in members if (number := ctx.view.ids.get(member)) is not None]
    found = [account.email for account in accounts.get_many(ctx, numbers).values() if account.email]
    for receiver in found:
        outbox.enqueue(
            ctx.session.transaction,
            ctx.session.tenant,
            ctx.at,
            receiver=receiver,
            subject=subject,
            body=ctx.keys.encrypt(body),
        )
    return len(found)
