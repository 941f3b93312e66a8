"""Anchors: the heads of audit chains in files outside of the database.

Whoever can write to the database can delete a log with its seal, and nothing inside would tell. So each server and
worker keeps the number and hash of the last entry that it has seen in a file of the data folder, signed with the
installation's key. An anchor can lag behind its log; a log that lags behind an anchor, or has another entry at its
place, was cut off or replaced. An anchor only moves forward, and only along the chain that it knows.
"""

import json
import logging
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from secrets import token_hex

from lakehold.kit.clock import Moment, format_moment
from lakehold.kit.keys import KeyRing
from lakehold.ledger.audit import AuditChain, AuditLog, AuditVerification

_log = logging.getLogger("lakehold.audit")
_REPORTED_AT = 2
_ACKNOWLEDGE = "If the database was restored from a backup, acknowledge it: lakehold audit acknowledge."


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last entry of a chain, as it was at a moment."""

    tenant: str
    chain: str
    entries: int
    head: str
    at: Moment

    @property
    def payload(self) -> str:
        """The text that is signed."""
        return json.dumps(["anchor", self.tenant, self.chain, self.entries, self.head, self.at])


def chain_head(log: AuditLog, at: Moment) -> ChainHead | None:
    """Return the head of a log; None if it is empty, or its seal is not genuine."""
    sealed = log.load_seal()
    if sealed is None or not log.is_genuine(sealed):
        return None
    return ChainHead(log.tenant_uid, log.chain.name, sealed.entries, sealed.head, at)


def head_fault(log: AuditLog, known: ChainHead, where: str) -> str:
    """Return what is wrong with a log in which this entry was seen; empty if it is there."""
    sealed = log.load_seal()
    count = 0 if sealed is None else sealed.entries
    if count < known.entries:
        since = f" of {format_moment(known.at)}" if known.at else ""
        seen = f"{where} confirms {known.entries:,} entries{since}, but the log has {count:,}"
        return f"{seen}: the last {known.entries - count:,} are missing."
    if sealed is not None and known.entries < sealed.forgotten:
        return ""  # Of the time before the oldest entry that is kept.
    if log.hash_of(known.entries) != known.head:
        return f"Entry {known.entries:,} is not the one that {where[0].lower()}{where[1:]} confirms: it was replaced."
    return ""


class AuditAnchors:
    """The anchors of this machine's data folder."""

    def __init__(self, folder: Path, keys: KeyRing) -> None:
        self._folder = folder
        self._keys = keys
        self._faults: dict[Path, int] = {}
        self._heads: dict[Path, str] = {}

    def is_at(self, tenant: int, chain: AuditChain, head: str) -> bool:
        """Return whether this process has seen the anchor at this head."""
        return self._heads.get(self._file(tenant, chain)) == head

    def load(self, tenant: int, chain: AuditChain) -> tuple[ChainHead | None, str]:
        """Return the anchor of a chain, if there is one, and why it cannot be relied on."""
        try:
            values = json.loads(self._file(tenant, chain).read_text(encoding="utf-8"))
            seal = values.pop("seal")
            found = ChainHead(**values)
        except FileNotFoundError:
            return None, ""
        except (ValueError, TypeError, KeyError, AttributeError):
            return None, "The anchor outside the database cannot be read."
        if not isinstance(seal, str) or not self._keys.is_sealed(found.payload, seal):
            return None, "The anchor outside the database was not made with this installation's key."
        return found, ""

    def fault(self, log: AuditLog) -> str:
        """Return what is wrong with a log according to its anchor; empty without one."""
        return self._compare(log, *self.load(log.tenant, log.chain))

    def _compare(self, log: AuditLog, known: ChainHead | None, fault: str) -> str:
        if known is None:
            return fault
        if (known.tenant, known.chain) != (log.tenant_uid, log.chain.name):
            return "The anchor outside the database is that of another log."
        return head_fault(log, known, "The anchor outside the database")

    def verify(self, log: AuditLog) -> AuditVerification:
        """Verify a log, and compare it with its anchor."""
        # First: while a long log is verified as it was, the anchor moves on.
        known, fault = self.load(log.tenant, log.chain)
        verdict = log.verify()
        verdict = replace(verdict, anchored=known.entries if known else 0, anchored_at=known.at if known else 0)
        if verdict.fault:
            return verdict
        fault = self._compare(log, known, fault)
        return replace(verdict, fault=f"{fault} {_ACKNOWLEDGE}" if fault else "")

    def advance(self, log: AuditLog, at: Moment) -> None:
        """Move the anchor to the end of the log, unless the log is not the one that it knows."""
        head = chain_head(log, at)
        if head is None:
            return
        file = self._file(log.tenant, log.chain)
        fault = self.fault(log)
        if fault:
            # Not at the first time: another process may have moved it on since this transaction began.
            self._faults[file] = self._faults.get(file, 0) + 1
            if self._faults[file] == _REPORTED_AT:
                _log.critical("the audit log of %s does not verify: %s", log.tenant_uid, fault)
            return
        known, _ = self.load(log.tenant, log.chain)
        if known is not None and known.head == head.head and self._is_newest(file, known):
            self._heads[file] = head.head
            return
        self.write(log, head)

    def _is_newest(self, file: Path, known: ChainHead) -> bool:
        """Return whether the anchor is signed with the newest key."""
        return bool(json.loads(file.read_bytes())["seal"] == self._keys.seal(known.payload))

    def write(self, log: AuditLog, head: ChainHead | None) -> None:
        """Write the anchor, whatever was there, so that it survives a crash of the machine; None removes it."""
        file = self._file(log.tenant, log.chain)
        self._faults.pop(file, None)
        self._heads.pop(file, None)
        if head is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.{token_hex(4)}")
        try:
            with fresh.open("x", encoding="utf-8") as out:
                json.dump({**asdict(head), "seal": self._keys.seal(head.payload)}, out)
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._heads[file] = head.head

    def _file(self, tenant: int, chain: AuditChain) -> Path:
        return self._folder / f"{tenant}-{chain.name}.json"
