"""What has ended long ago is dropped: nobody asks for it any more, and the audit log knows of it."""

from __future__ import annotations

from lakehold.directory import throttle
from lakehold.directory.invites import invite_table
from lakehold.directory.links import link_table
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import sign_in_table
from lakehold.directory.tokens import token_table
from lakehold.kit.clock import DAY

_STAY = 30 * DAY
"""So long ended tokens and invites are listed, for whoever wonders why something stopped, or sends one again."""


def tidy(platform: Platform) -> int:
    """Drop it, in all tenants. Tells how many rows that were. For the worker, now and then."""
    at = platform.clock()
    platform.uses.write(platform.database)
    with platform.database.write("tidy") as transaction:
        count = throttle.forget(transaction, at)
        for table, until in (
            (sign_in_table, at),
            (link_table, at),
            (token_table, at - _STAY),
            (invite_table, at - _STAY),
        ):
            count += transaction.connection.execute(table.delete().where(table.c.until <= until)).rowcount
    return count
