"""An audit log that lost entries together with its seal does not verify: an anchor outside the database knows them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lakehold.kit import keys
from lakehold.kit.clock import DAY, SECOND
from lakehold.kit.database import Database
from lakehold.kit.keys import KeyRing
from lakehold.ledger.anchor import AuditAnchors, ChainHead, chain_head, head_fault
from lakehold.ledger.audit import CHANGES, READS, AuditChain, AuditLog, AuditLogEntry, AuditVerification

RING = KeyRing([keys.generate_key()])
TENANT, UID = 1, "acme"
ENTRIES = [AuditLogEntry(n * DAY, "ann", "create", f"r{n}") for n in range(1, 9)]


@pytest.fixture
def anchors(tmp_path: Path) -> AuditAnchors:
    return AuditAnchors(tmp_path / "anchors", RING)


def append(database: Database, entries: list[AuditLogEntry], chain: AuditChain = CHANGES) -> None:
    with database.write(UID) as transaction:
        AuditLog(transaction, TENANT, UID, RING, chain).append(entries)


def advance(database: Database, anchors: AuditAnchors, chain: AuditChain = CHANGES, *, at: int = 9 * SECOND) -> None:
    with database.read() as transaction:
        anchors.advance(AuditLog(transaction, TENANT, UID, RING, chain), at)


def verdict(
    database: Database, anchors: AuditAnchors, chain: AuditChain = CHANGES, ring: KeyRing = RING
) -> AuditVerification:
    with database.read() as transaction:
        return anchors.verify(AuditLog(transaction, TENANT, UID, ring, chain))


def wipe(database: Database, chain: AuditChain = CHANGES) -> None:
    """Delete the log together with its seal."""
    with database.write() as transaction:
        for table in (chain.entries, chain.seals):
            transaction.connection.execute(table.delete())


@pytest.mark.parametrize("chain", [CHANGES, READS])
def test_a_log_that_is_gone_with_its_seal_does_not_verify(
    database: Database, anchors: AuditAnchors, chain: AuditChain
) -> None:
    append(database, ENTRIES[:5], chain)
    advance(database, anchors, chain)
    found = verdict(database, anchors, chain)
    assert (found.fault, found.anchored, found.anchored_at) == ("", 5, 9 * SECOND)
    wipe(database, chain)
    with database.read() as transaction:
        # Nothing inside the database tells.
        assert not AuditLog(transaction, TENANT, UID, RING, chain).verify().fault
    fault = verdict(database, anchors, chain).fault
    assert "confirms 5 entries of 1970-01-01 00:00:09" in fault
    assert "the log has 0: the last 5 are missing" in fault
    assert "lakehold audit acknowledge" in fault


def test_a_log_may_be_ahead_of_its_anchor_never_behind_or_another(database: Database, anchors: AuditAnchors) -> None:
    append(database, ENTRIES[:3])
    advance(database, anchors)
    append(database, ENTRIES[3:5])
    assert verdict(database, anchors).fault == ""
    wipe(database)
    append(database, ENTRIES[:2])
    assert "the last 1 are missing" in verdict(database, anchors).fault
    wipe(database)
    append(database, [replace(entry, member="eve") for entry in ENTRIES])
    assert "Entry 3 is not the one" in verdict(database, anchors).fault


def test_an_anchor_never_moves_onto_another_log(database: Database, anchors: AuditAnchors) -> None:
    append(database, ENTRIES[:3])
    advance(database, anchors)
    wipe(database)
    advance(database, anchors)
    append(database, ENTRIES[4:5])
    advance(database, anchors)
    append(database, [replace(entry, member="eve") for entry in ENTRIES])
    advance(database, anchors)
    assert "Entry 3 is not the one" in verdict(database, anchors).fault


def test_an_anchor_is_signed_and_belongs_to_one_log(database: Database, anchors: AuditAnchors, tmp_path: Path) -> None:
    append(database, ENTRIES[:3])
    advance(database, anchors)
    file = tmp_path / "anchors/1-audit.json"
    whole = file.read_text()
    for change in ({"entries": 2}, {"head": "0" * 64}, {"seal": ""}, {"seal": 1}):
        file.write_text(json.dumps({**json.loads(whole), **change}))
        assert "not made with this installation's key" in verdict(database, anchors).fault
    for text in ("", "{}", "[]", '{"seal": "x", "more": 1}', "\xff"):
        file.write_text(text)
        assert "cannot be read" in verdict(database, anchors).fault
    (tmp_path / "anchors/1-reads.json").write_text(whole)
    file.write_text(whole)
    append(database, ENTRIES[:1], READS)
    assert "of another log" in verdict(database, anchors, READS).fault
    assert verdict(database, anchors).fault == ""


def test_without_an_anchor_the_log_says_so(database: Database, anchors: AuditAnchors) -> None:
    append(database, ENTRIES[:3])
    found = verdict(database, anchors)
    assert (found.fault, found.anchored) == ("", 0)


def test_a_new_key_signs_the_anchor_anew(database: Database, anchors: AuditAnchors, tmp_path: Path) -> None:
    append(database, ENTRIES[:3])
    advance(database, anchors)
    old = json.loads((tmp_path / "anchors/1-audit.json").read_text())["seal"]
    first, second = keys.generate_key(), keys.generate_key()
    ring = KeyRing([first, second])
    folder = tmp_path / "two"
    with database.write(UID) as transaction:
        log = AuditLog(transaction, TENANT, UID, KeyRing([second]), READS)
        log.append(ENTRIES[:2])
        AuditAnchors(folder, KeyRing([second])).advance(log, 1)
    with database.write(UID) as transaction:
        log = AuditLog(transaction, TENANT, UID, ring, READS)
        log.reseal()
        AuditAnchors(folder, ring).advance(log, 2)
    only_new = AuditAnchors(folder, KeyRing([first]))
    assert verdict(database, only_new, READS, KeyRing([first])).fault == ""
    assert json.loads((folder / "1-reads.json").read_text())["seal"] != old


def test_forgotten_reads_are_no_loss(database: Database, anchors: AuditAnchors) -> None:
    append(database, ENTRIES[:5], READS)
    advance(database, anchors, READS)
    with database.write(UID) as transaction:
        log = AuditLog(transaction, TENANT, UID, RING, READS)
        assert log.forget(3 * DAY) == 2
        assert log.forget(3 * DAY) == 0
    assert verdict(database, anchors, READS).fault == ""
    append(database, ENTRIES[5:], READS)
    assert verdict(database, anchors, READS).fault == ""
    # A server that was away for long knows only what has been forgotten since.
    with database.write(UID) as transaction:
        assert AuditLog(transaction, TENANT, UID, RING, READS).forget(100 * DAY) == 6
    found = verdict(database, anchors, READS)
    assert (found.entries, found.fault) == (8, "")
    append(database, ENTRIES[:1], READS)
    assert verdict(database, anchors, READS).entries == 9


def test_what_is_forgotten_cannot_be_moved(database: Database, anchors: AuditAnchors) -> None:
    append(database, ENTRIES[:5], READS)
    with database.write(UID) as transaction:
        AuditLog(transaction, TENANT, UID, RING, READS).forget(3 * DAY)
        later = READS.entries.c.n == 3
        moved = {"forgotten": 3, "base": transaction.connection.scalar(READS.entries.select().where(later)) and "x"}
        transaction.connection.execute(READS.entries.delete().where(later))
    assert "Entry 3 is missing" in verdict(database, anchors, READS).fault
    with database.write() as transaction:
        transaction.connection.execute(READS.seals.update().values(**moved))
    assert "not made with this installation's key" in verdict(database, anchors, READS).fault


def test_a_head_that_was_kept_elsewhere_is_compared(database: Database) -> None:
    append(database, ENTRIES[:3])
    with database.read() as transaction:
        kept = chain_head(AuditLog(transaction, TENANT, UID, RING), 0)
    assert kept is not None
    append(database, ENTRIES[3:4])
    with database.read() as transaction:
        log = AuditLog(transaction, TENANT, UID, RING)
        assert head_fault(log, kept, "The head") == ""
        assert "Entry 2 is not" in head_fault(log, replace(kept, entries=2), "The head")
        assert "the last 6 are missing" in head_fault(log, ChainHead(UID, "audit", 10, kept.head, 0), "The head")
