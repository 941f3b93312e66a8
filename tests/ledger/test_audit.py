"""The audit log cannot be altered, shortened, reordered or exchanged without `verify` telling so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest
import sqlalchemy as sa

from lakehold.kit import keys
from lakehold.kit.clock import SECOND
from lakehold.kit.database import Database, Transaction
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.keys import KeyRing
from lakehold.ledger.audit import (
    DENIED,
    AuditFilter,
    AuditLog,
    AuditLogEntry,
    AuditVerification,
    audit_table,
    seal_table,
)

KEYS = KeyRing([keys.generate_key()])
FIRST, SECOND_TENANT = 1, 2
NAMES = {FIRST: "acme", SECOND_TENANT: "other"}
LINES = [
    AuditLogEntry(
        1 * SECOND, "ann", "create", "orders", resource_name="Orders", kind="lakehouse.table", after={"name": "Orders"}
    ),
    AuditLogEntry(2 * SECOND, "bob", "edit", "orders", outcome=DENIED, reason="You may not edit table Orders."),
    AuditLogEntry(
        3 * SECOND, "ann", "rename", "orders", before={"name": "Orders"}, after={"name": "Bestellungen – 注文"}
    ),
    AuditLogEntry(4 * SECOND, "ann", "view as", "bob", viewing_as="bob", token="t1", request="r1", address="127.0.0.1"),
    AuditLogEntry(5 * SECOND, "", "request expired"),
]

Tamper = Callable[[sa.Connection], object]
at = audit_table.c


def log(transaction: Transaction, tenant: int = FIRST, ring: KeyRing = KEYS) -> AuditLog:
    return AuditLog(transaction, tenant, NAMES[tenant], ring)


def write(database: Database, entries: list[AuditLogEntry], tenant: int = FIRST, ring: KeyRing = KEYS) -> None:
    with database.write(NAMES[tenant]) as transaction:
        log(transaction, tenant, ring).append(entries)


def verdict(database: Database, tenant: int = FIRST, ring: KeyRing = KEYS) -> AuditVerification:
    with database.read() as transaction:
        return log(transaction, tenant, ring).verify()


def tamper(database: Database, how: Tamper) -> None:
    with database.write() as transaction:
        how(transaction.connection)


@pytest.fixture
def written(database: Database) -> Database:
    """Five lines in one log, and as many in another's."""
    write(database, LINES[:2])
    write(database, LINES[2:])
    write(database, [replace(line, member="eve") for line in LINES], SECOND_TENANT)
    return database


def test_what_was_written_verifies(written: Database) -> None:
    found = verdict(written)
    assert (found.entries, found.fault) == (5, "")
    assert found.head != verdict(written, SECOND_TENANT).head


def test_an_empty_log_verifies(database: Database) -> None:
    assert verdict(database) == AuditVerification(0, "0" * 64)
    write(database, [])
    assert verdict(database).fault == ""


def row(n: int, tenant: int = FIRST) -> sa.ColumnElement[bool]:
    return (at.tenant_id == tenant) & (at.n == n)


def alter(n: int, **values: object) -> Tamper:
    return lambda connection: connection.execute(audit_table.update().where(row(n)).values(**values))


def alter_body(connection: sa.Connection) -> None:
    body = json.loads(connection.execute(sa.select(at.body).where(row(2))).scalar_one())
    body["member"] = "ann"
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    connection.execute(audit_table.update().where(row(2)).values(body=text, member="ann"))


def remove(n: int) -> Tamper:
    return lambda connection: connection.execute(audit_table.delete().where(row(n)))


def close_the_gap(connection: sa.Connection) -> None:
    connection.execute(audit_table.delete().where(row(2)))
    for n in (3, 4, 5):
        connection.execute(audit_table.update().where(row(n)).values(n=n - 1))


def reorder(connection: sa.Connection) -> None:
    for old, new in ((2, 99), (3, 2), (99, 3)):
        connection.execute(audit_table.update().where(row(old)).values(n=new))


def swap_tenants(connection: sa.Connection) -> None:
    for old, new in ((FIRST, 9), (SECOND_TENANT, FIRST), (9, SECOND_TENANT)):
        connection.execute(audit_table.update().where(at.tenant_id == old).values(tenant_id=new))


def swap_tenants_with_seals(connection: sa.Connection) -> None:
    swap_tenants(connection)
    for old, new in ((FIRST, 9), (SECOND_TENANT, FIRST), (9, SECOND_TENANT)):
        connection.execute(seal_table.update().where(seal_table.c.tenant_id == old).values(tenant_id=new))


def cut_tail(connection: sa.Connection) -> None:
    connection.execute(audit_table.delete().where(at.tenant_id == FIRST, at.n >= 4))


def cut_everything(connection: sa.Connection) -> None:
    connection.execute(audit_table.delete().where(at.tenant_id == FIRST))


def cut_tail_and_reseal(connection: sa.Connection) -> None:
    """By somebody who has the whole database, and not the key."""
    cut_tail(connection)
    head = connection.execute(sa.select(at.hash).where(row(3))).scalar_one()
    forged = KeyRing([keys.generate_key()]).seal(json.dumps(["audit", "acme", 3, head]))
    connection.execute(
        seal_table.update().where(seal_table.c.tenant_id == FIRST).values(entries=3, head=head, seal=forged)
    )


def drop_seal(connection: sa.Connection) -> None:
    connection.execute(seal_table.delete().where(seal_table.c.tenant_id == FIRST))


def seal_of_another(connection: sa.Connection) -> None:
    other = connection.execute(sa.select(seal_table).where(seal_table.c.tenant_id == SECOND_TENANT)).mappings().one()
    values = {name: other[name] for name in ("entries", "head", "seal")}
    connection.execute(seal_table.update().where(seal_table.c.tenant_id == FIRST).values(**values))


def append_by_hand(connection: sa.Connection) -> None:
    last = dict(connection.execute(sa.select(audit_table).where(row(5))).mappings().one())
    connection.execute(audit_table.insert().values(**{**last, "n": 6}))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (alter_body, "Entry 2 was altered or moved"),
        (alter(3, member="bob"), "Entry 3 was altered or moved"),
        (alter(3, action="delete"), "Entry 3 was altered or moved"),
        (alter(3, resource="items"), "Entry 3 was altered or moved"),
        (alter(3, outcome="denied"), "Entry 3 was altered or moved"),
        (alter(3, at=7 * SECOND), "Entry 3 was altered or moved"),
        (alter(4, hash="0" * 64), "Entry 4 was altered or moved"),
        (remove(1), "Entry 1 is missing"),
        (remove(3), "Entry 3 is missing: entry 4 follows entry 2"),
        (remove(5), "The seal covers 5 entries, but there are 4"),
        (close_the_gap, "Entry 2 was altered or moved"),
        (reorder, "Entry 2 was altered or moved"),
        (swap_tenants, "Entry 1 was altered or moved"),
        (swap_tenants_with_seals, "Entry 1 was altered or moved"),
        (cut_tail, "The seal covers 5 entries, but there are 3"),
        (cut_everything, "The seal covers 5 entries, but there are 0"),
        (cut_tail_and_reseal, "not made with this installation's key"),
        (drop_seal, "The seal is missing"),
        (seal_of_another, "not made with this installation's key"),
        (append_by_hand, "Entry 6 was altered or moved"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_every_alteration_is_found(written: Database, how: Tamper, message: str) -> None:
    tamper(written, how)
    assert message in verdict(written).fault


def test_the_other_log_is_not_touched_by_it(written: Database) -> None:
    tamper(written, cut_tail)
    assert verdict(written).fault
    assert not verdict(written, SECOND_TENANT).fault


def test_a_log_that_was_tampered_with_is_never_sealed_anew(written: Database) -> None:
    tamper(written, cut_tail)
    with pytest.raises(InvalidInputError, match="does not verify"), written.write("acme") as transaction:
        log(transaction).reseal()
    assert verdict(written).fault


def test_what_is_appended_to_a_cut_log_does_not_hide_the_cut(written: Database) -> None:
    tamper(written, cut_tail)
    write(written, [LINES[0]])
    assert verdict(written).fault == "Entry 4 is missing: entry 6 follows entry 3."


def test_a_rotated_key_still_verifies_and_seals_anew(written: Database, tmp_path: Path) -> None:
    file = tmp_path / "key"
    ring = keys.load_keys("", file)
    with written.write("other") as transaction:
        AuditLog(transaction, 3, "other", ring).append(LINES)
    wide = keys.rotate_key_file(file)
    newest = KeyRing(file.read_text().split()[:1])

    def check(by: KeyRing) -> str:
        with written.read() as transaction:
            return AuditLog(transaction, 3, "other", by).verify().fault

    assert check(wide) == ""
    assert "not made with this installation's key" in check(newest)
    with written.write("other") as transaction:
        AuditLog(transaction, 3, "other", wide).reseal()
    assert check(newest) == ""
    assert "not made with this installation's key" in check(ring)


def test_a_page_is_newest_first_and_filtered(written: Database) -> None:
    def found(entry_filter: AuditFilter, **more: int) -> list[int]:
        with written.read() as transaction:
            return [line.n for line in log(transaction).page(entry_filter, **more)]

    assert found(AuditFilter()) == [5, 4, 3, 2, 1]
    assert found(AuditFilter(), limit=2) == [5, 4]
    assert found(AuditFilter(), before=4, limit=2) == [3, 2]
    assert found(AuditFilter(member="ann")) == [4, 3, 1]
    assert found(AuditFilter(member="")) == [5]
    assert found(AuditFilter(resource="orders")) == [3, 2, 1]
    assert found(AuditFilter(action="rename")) == [3]
    assert found(AuditFilter(outcome=DENIED)) == [2]
    assert found(AuditFilter(since=2 * SECOND, until=4 * SECOND)) == [3, 2]
    assert found(AuditFilter(member="ann", resource="orders", since=2 * SECOND)) == [3]
    assert found(AuditFilter(member="eve")) == []


def test_an_entry_comes_back_as_it_was(written: Database) -> None:
    with written.read() as transaction:
        assert [line.entry for line in reversed(log(transaction).page(AuditFilter()))] == LINES


def test_the_export_is_json_lines_oldest_first(written: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakehold.ledger.audit._AT_ONCE", 2)
    with written.read() as transaction:
        lines = [json.loads(line) for line in log(transaction).export(AuditFilter())]
        denied = [json.loads(line)["n"] for line in log(transaction).export(AuditFilter(outcome=DENIED))]
        head = log(transaction).verify().head
    assert [line["n"] for line in lines] == [1, 2, 3, 4, 5]
    assert lines[2]["after"] == {"name": "Bestellungen – 注文"}
    assert lines[-1]["hash"] == head
    assert denied == [2]


def test_an_exported_line_is_one_line(written: Database) -> None:
    write(written, [AuditLogEntry(9 * SECOND, "ann", "edit", reason="two\nlines\u2028and more")])
    with written.read() as transaction:
        *_, last = log(transaction).export(AuditFilter())
    assert "\n" not in last
    assert json.loads(last)["reason"] == "two\nlines\u2028and more"


def test_whoever_writes_out_of_turn_is_stopped(database: Database) -> None:
    with pytest.raises(AssertionError), database.write() as transaction:
        log(transaction).append(LINES)
    with pytest.raises(AssertionError), database.write("other") as transaction:
        log(transaction).append(LINES)
    assert verdict(database).entries == 0


def test_two_who_append_at_once_make_one_chain(database: Database) -> None:
    together = Barrier(2)
    each = 25

    def append(member: str) -> None:
        together.wait()
        for n in range(each):
            write(database, [AuditLogEntry(n, member, "see"), AuditLogEntry(n, member, "edit")])

    threads = [Thread(target=append, args=(member,)) for member in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = verdict(database)
    assert (found.entries, found.fault) == (4 * each, "")
    with database.read() as transaction:
        lines = [line.entry for line in reversed(log(transaction).page(AuditFilter(), limit=1_000))]
    for member in ("ann", "bob"):
        mine = [(line.at, line.action) for line in lines if line.member == member]
        assert mine == [(n, action) for n in range(each) for action in ("see", "edit")]
