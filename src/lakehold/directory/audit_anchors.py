"""The anchors of all tenants' audit logs: moved forward in the background, and acknowledged after a restored backup."""

from dataclasses import dataclass

import sqlalchemy as sa

from lakehold.directory import tenants
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.ledger.anchor import chain_head
from lakehold.ledger.audit import CHANGES, READS, AuditLog


def advance_anchors(platform: Platform) -> None:
    """Move the anchor of each log that has grown to its end."""
    at = platform.clock()
    with platform.database.read() as transaction:
        for chain in (CHANGES, READS):
            c = chain.seals.c
            for number, head in transaction.connection.execute(sa.select(c.tenant_id, c.head)).all():
                if not platform.anchors.is_at(number, chain, head):
                    uid = tenants.tenant_uid(transaction, number)
                    platform.anchors.advance(AuditLog(transaction, number, uid, platform.keys, chain), at)


@dataclass(frozen=True, slots=True)
class AcknowledgedLog:
    """A log that was found to be another one than its anchor knew, and is taken as it is from now on."""

    tenant: str
    chain: str
    fault: str
    entries: int


def acknowledge(platform: Platform, reason: str) -> list[AcknowledgedLog]:
    """Let the anchors begin anew at logs that they do not know, as after the database was restored from a backup.

    The reason and what is missing are written to the log itself. For the operator of the platform only.
    """
    if not reason.strip():
        raise InvalidInputError("No reason is given.", "Say why entries are missing.", field="reason")
    found: list[AcknowledgedLog] = []
    for tenant in tenants.list_all(platform):
        with platform.write(Caller(tenant.uid, "", address="local")) as ctx:
            faults = [(log, fault) for log in (ctx.audit, ctx.reads) if (fault := platform.anchors.fault(log))]
            found += [_note_acknowledged(ctx, log, fault, reason.strip()) for log, fault in faults]
        with platform.read(Caller(tenant.uid, "", address="local")) as ctx:
            for was, _ in faults:
                log = ctx.audit if was.chain is CHANGES else ctx.reads
                platform.anchors.write(log, chain_head(log, platform.clock()))
    return found


def _note_acknowledged(ctx: RequestContext, log: AuditLog, fault: str, reason: str) -> AcknowledgedLog:
    verdict = log.verify()
    if verdict.fault:
        raise ConflictError(
            f"The audit log of {log.tenant_uid} does not verify: {verdict.fault}", "Restore a backup that does."
        )
    after = {"log": log.chain.name, "entries": verdict.entries, "head": verdict.head}
    ctx.note("acknowledge audit log", log.tenant_uid, before={"fault": fault}, after=after, reason=reason)
    return AcknowledgedLog(log.tenant_uid, log.chain.name, fault, verdict.entries)
