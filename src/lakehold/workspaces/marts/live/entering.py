"""Whoever shows the secret of a live destination is let in there, and nowhere else. What is wrong is counted, and the
answer does not say what it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

# past the access filter: the tenant is known by the secret, and found here
from lakehold.access.facts.tables import resource
from lakehold.directory import secret_tokens, throttle
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.secret_tokens import PresentedSecret
from lakehold.kit.clock import FOREVER
from lakehold.kit.database import Transaction
from lakehold.ledger.audit import DENIED
from lakehold.workspaces.marts.live.secrets import live_secret_table

_NOBODY = 0
"""Attempts are counted for no tenant: it is not known whose they would be."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Whoever was let in."""

    tenant: str
    destination: str
    secret: str
    """The id of the secret."""
    visit: ClientInfo


@dataclass(frozen=True, slots=True)
class _Found:
    tenant: str
    destination: str
    right: bool


def enter(platform: Platform, destination: str, text: str, visit: ClientInfo) -> Entered:
    """Let them in, or refuse."""
    given = secret_tokens.parse(secret_tokens.LIVE, text)
    found = None
    if given is not None:
        with platform.database.read() as transaction:
            found = _found(transaction, given)
    if given is not None and found is not None and found.right and found.destination == destination:
        return Entered(found.tenant, destination, given.id, visit)
    counted = throttle.attempt_keys(
        "live", f"{destination} {visit.address}", visit.address, throttle.ACCOUNT, throttle.ADDRESS
    )
    with platform.database.write("live") as transaction:
        throttle.count_attempt(transaction, _NOBODY, platform.clock(), counted)
    if given is not None and found is not None:
        with platform.write(visit.to_caller(found.tenant)) as ctx:
            ctx.note("pull", found.destination, after={"secret": given.id}, outcome=DENIED)
    raise UnauthorizedError("This secret is not valid here, or not any more.", "Ask for a new one.")


def _found(transaction: Transaction, given: PresentedSecret) -> _Found | None:
    kept, there, tenant = live_secret_table, resource.alias("d"), resource.alias("t")
    query = (
        sa.select(kept.c.hash, there.c.uid.label("destination"), tenant.c.uid.label("tenant"))
        .join(tenant, tenant.c.id == kept.c.tenant_id)
        .join(there, (there.c.id == kept.c.resource_id) & (there.c.tenant_id == kept.c.tenant_id))
        .where(kept.c.id == given.id, there.c.until == FOREVER)
    )
    row = transaction.connection.execute(query).first()
    return None if row is None else _Found(row.tenant, row.destination, given.matches(row.hash))
