"""Writes everything anew that a key has encrypted or sealed, so that the older keys are no longer needed."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from lakehold.catalog import credentials
from lakehold.directory import tenants
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.keys import KeyRing
from lakehold.ledger.audit import AuditLog
from lakehold.ledger.outbox import outbox_table


def rewrite(platform: Platform, tell: Callable[[str, int], None] = lambda *_: None) -> int:
    """Write secrets and seals with the newest key; how many. What is told on the way: of what, and how many."""
    count = 0
    with platform.database.write() as transaction:
        for what, renew in (("credentials", credentials.reencrypt), ("mails", _mails)):
            done = renew(transaction, platform.keys)
            tell(what, done)
            count += done
    for tenant in tenants.list_all(platform):
        with platform.database.write(tenant.uid) as transaction:
            AuditLog(transaction, tenants.tenant_number(transaction, tenant.uid), tenant.uid, platform.keys).reseal()
        tell(f"audit log of {tenant.uid}", 1)
        count += 1
    return count


def _mails(transaction: Transaction, keys: KeyRing) -> int:
    c = outbox_table.c
    waiting = transaction.connection.execute(sa.select(c.id, c.body).where(c.body != "")).all()
    for mail in waiting:
        renewed = outbox_table.update().where(c.id == mail.id).values(body=keys.reencrypt(mail.body))
        transaction.connection.execute(renewed)
    return len(waiting)
