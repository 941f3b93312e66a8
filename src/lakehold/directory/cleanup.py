"""Deletes expired sign-ins, links, tokens and invites, and old attempts. The audit log keeps their history."""

from __future__ import annotations

from lakehold.directory import throttle
from lakehold.directory.invites import invite_table
from lakehold.directory.links import link_table
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import sign_in_table
from lakehold.directory.tokens import token_table
from lakehold.kit.clock import DAY

_KEEP_LISTED = 30 * DAY
"""How long ended tokens and invites stay listed, so that users see why one stopped, or send it again."""


def delete_expired(platform: Platform) -> int:
    """Delete expired rows of all tenants and return their number. Called by the worker."""
    at = platform.clock()
    platform.last_used.flush(platform.database)
    with platform.database.write("tidy") as transaction:
        count = throttle.delete_old(transaction, at)
        for table, until in (
            (sign_in_table, at),
            (link_table, at),
            (token_table, at - _KEEP_LISTED),
            (invite_table, at - _KEEP_LISTED),
        ):
            count += transaction.connection.execute(table.delete().where(table.c.until <= until)).rowcount
    return count
