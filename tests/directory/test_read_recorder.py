"""Reads are written in batches, none is lost but by a kill, and a full log stops reading."""

from __future__ import annotations

from threading import Thread

import pytest

from lakehold.directory import read_recorder
from lakehold.kit.clock import DAY
from lakehold.kit.errors import BusyError, UnavailableError
from lakehold.ledger.audit import AuditFilter, AuditLogEntry
from lakehold.runs.scheduler.housekeeping import forget_reads
from tests.demo_company import DemoPlatform, as_member


def entries(platform: DemoPlatform) -> list[AuditLogEntry]:
    with platform.read(as_member("olga")) as ctx:
        assert not ctx.reads.verify().fault
        return [line.entry for line in ctx.reads.page(AuditFilter(), limit=5_000)][::-1]


@pytest.mark.flow
def test_reads_of_many_threads_are_one_chain(corner: DemoPlatform) -> None:
    def work(member: str) -> None:
        for n in range(20):
            corner.record_read(as_member(member), "query", "orders", tables=["orders", "b"], rows=n)
            corner.reads.flush()

    threads = [Thread(target=work, args=(member,)) for member in ("ana", "erik", "olga")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert corner.reads.flush()
    found = entries(corner)
    assert len(found) == 60
    assert (found[0].kind, found[0].after) == ("lakehouse.table", {"tables": ["b", "orders"], "rows": 0})
    assert not corner.log()


def test_nothing_is_written_before_the_flush_and_the_rest_at_the_end(corner: DemoPlatform) -> None:
    corner.record_read(as_member("ana"), "preview", "orders")
    assert entries(corner) == []
    corner.close()
    (entry,) = entries(corner)
    assert (entry.member, entry.action, entry.resource, entry.resource_name) == ("ana", "preview", "orders", "orders")


def test_what_the_database_does_not_take_is_kept(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise BusyError("Somebody else.")

    monkeypatch.setattr(read_recorder, "_MAX_WAITING", 3)
    with monkeypatch.context() as patched:
        patched.setattr(corner.database, "write", busy)
        for _ in range(2):
            corner.record_read(as_member("ana"), "preview", "orders")
        assert not corner.reads.flush()
        # Nothing is read that could not be written.
        with pytest.raises(UnavailableError, match="audit log"):
            corner.record_read(as_member("ana"), "preview", "orders")
    corner.record_read(as_member("erik"), "preview", "orders")
    assert [entry.member for entry in entries(corner)] == ["ana", "ana", "ana", "erik"]


def test_a_query_of_very_many_tables_names_some_and_counts_the_rest(
    corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_recorder, "_MAX_TABLES", 2)
    corner.record_read(as_member("ana"), "query", "shop_lake", tables=["c", "a", "b"])
    corner.reads.flush()
    assert entries(corner)[0].after == {"tables": ["a", "b"], "more_tables": 1}


def test_nothing_is_recorded_if_that_is_set(corner: DemoPlatform) -> None:
    corner.settings = corner.settings.model_copy(update={"read_log_days": 0})
    corner.record_read(as_member("ana"), "preview", "orders")
    corner.reads.flush()
    assert entries(corner) == []


def test_old_reads_are_forgotten_and_that_is_noted(corner: DemoPlatform) -> None:
    corner.settings = corner.settings.model_copy(update={"read_log_days": 30})
    for days in (20, 20, 1):
        corner.record_read(as_member("ana"), "preview", "orders")
        corner.reads.flush()
        corner.hand.advance_days(days)
    assert forget_reads(corner) == 1
    assert len(entries(corner)) == 2
    (noted,) = corner.log(AuditFilter(action="forget reads"))
    assert noted.entry.before["entries"] == 1
    assert forget_reads(corner) == 0
    corner.hand.at += 100 * DAY
    with corner.database.write() as transaction:
        transaction.connection.exec_driver_sql("UPDATE audit_read SET member = 'eve' WHERE n = 3")
    # What somebody has altered is not removed with the traces.
    assert forget_reads(corner) == 0


def test_reads_are_found_by_person_time_and_table(corner: DemoPlatform) -> None:
    corner.record_read(as_member("ana"), "query", "shop_lake", tables=["orders", "customers"])
    corner.record_read(as_member("erik"), "preview", "orders")
    corner.reads.flush()
    with corner.read(as_member("olga")) as ctx:

        def who(**criteria: str) -> list[str]:
            return [each.entry.member for each in ctx.reads.page(AuditFilter(**criteria))]  # type: ignore[arg-type]

        assert who() == ["erik", "ana"]
        assert who(resource="orders") == ["erik", "ana"]
        assert who(resource="customers") == ["ana"]
        assert who(resource="rder%") == []
        assert who(member="erik", resource="customers") == []
