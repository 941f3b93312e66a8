from __future__ import annotations

from lakehold.kit.database import Database
from lakehold.ledger.change_log import ChangeLogEntry, append_changes, changes_since, head_seq

ENTRIES = [ChangeLogEntry("grant", 1, 0, 10), ChangeLogEntry("edge", 2, 10, 5)]


def test_numbers_grow_and_entries_keep_their_order(database: Database) -> None:
    with database.write() as transaction:
        first = append_changes(transaction, 1, 100, ENTRIES)
    with database.write() as transaction:
        second = append_changes(transaction, 1, 200, ENTRIES[:1])
    assert 0 < first < second
    with database.read() as transaction:
        assert head_seq(transaction, 1) == second
        assert [(line.seq, line.entry) for line in changes_since(transaction, 1, 0, "c.fact")[1]] == [
            (first, ENTRIES[0]),
            (first, ENTRIES[1]),
            (second, ENTRIES[0]),
        ]
        assert changes_since(transaction, 1, first, "NULL")[0] == second
        assert [line.seq for line in changes_since(transaction, 1, first, "NULL")[1]] == [second]


def test_every_tenant_has_a_log_of_its_own(database: Database) -> None:
    with database.write() as transaction:
        append_changes(transaction, 1, 100, ENTRIES)
    with database.read() as transaction:
        assert head_seq(transaction, 2) == 0
        assert changes_since(transaction, 2, 0, "NULL") == (0, [])
