"""Key rotation: encrypts and seals everything again with the newest key, so that older keys are no longer needed."""

from collections.abc import Callable

import sqlalchemy as sa

from lakehold.catalog import credentials
from lakehold.directory import audit_anchors, tenants
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.keys import KeyRing
from lakehold.ledger.audit import CHANGES, READS, AuditLog
from lakehold.ledger.outbox import outbox_table


def rotate_keys(platform: Platform, report: Callable[[str, int], None] = lambda *_: None) -> int:
    """Encrypt secrets and reseal audit logs with the newest key. Return how many, and report each part on the way."""
    count = 0
    with platform.database.write() as transaction:
        for what, renew in (("credentials", credentials.reencrypt), ("mails", _reencrypt_mails)):
            done = renew(transaction, platform.keys)
            report(what, done)
            count += done
    for tenant in tenants.list_all(platform):
        with platform.database.write(tenant.uid) as transaction:
            number = tenants.tenant_number(transaction, tenant.uid)
            for chain in (CHANGES, READS):
                AuditLog(transaction, number, tenant.uid, platform.keys, chain).reseal()
        report(f"audit log of {tenant.uid}", 1)
        count += 1
    # This machine's: other servers sign theirs when they start with both keys.
    audit_anchors.advance_anchors(platform)
    return count


def _reencrypt_mails(transaction: Transaction, keys: KeyRing) -> int:
    c = outbox_table.c
    waiting = transaction.connection.execute(sa.select(c.id, c.body).where(c.body != "")).all()
    for mail in waiting:
        renewed = outbox_table.update().where(c.id == mail.id).values(body=keys.reencrypt(mail.body))
        transaction.connection.execute(renewed)
    return len(waiting)
