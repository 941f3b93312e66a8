"""Letting people know by mail, where the installation can send any and they have an address."""

from __future__ import annotations

from collections.abc import Iterable

from lakehold.directory import accounts
from lakehold.directory.work import Work
from lakehold.kit.settings import Settings
from lakehold.ledger import outbox


def tell(work: Work, settings: Settings | None, members: Iterable[str], subject: str, body: str) -> int:
    """Put a mail for each of the members into the outbox. Returns how many have an address."""
    if settings is None or not settings.smtp.get_secret_value():
        return 0
    numbers = [number for member in members if (number := work.view.ids.get(member)) is not None]
    found = [account.email for account in accounts.among(work, numbers).values() if account.email]
    for receiver in found:
        outbox.put(
            work.session.transaction,
            work.session.tenant,
            work.at,
            receiver=receiver,
            subject=subject,
            body=work.keys.encrypt(body),
        )
    return len(found)
