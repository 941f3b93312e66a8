"""After a restored backup the anchors say what is missing, until somebody acknowledges it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lakehold.directory import audit_anchors
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.ledger.audit import AuditFilter
from tests.demo_company import TENANT, DemoPlatform, as_member


def note(platform: DemoPlatform, *actions: str) -> None:
    for action in actions:
        with platform.write(as_member("olga")) as ctx:
            ctx.note(action, "orders")
        platform.record_read(as_member("olga"), "preview", "orders")
        platform.reads.flush()


def faults(platform: DemoPlatform) -> list[str]:
    with platform.read(as_member("olga")) as ctx:
        return [platform.anchors.verify(log).fault for log in (ctx.audit, ctx.reads)]


@pytest.fixture
def shop(corner_file: Path, tmp_path: Path) -> DemoPlatform:
    file = tmp_path / "corner.sqlite"
    shutil.copy(corner_file, file)
    return DemoPlatform(Settings(data=tmp_path / "data", database=f"sqlite:///{file}"))


def test_a_restored_backup_is_acknowledged_with_a_reason(shop: DemoPlatform, tmp_path: Path) -> None:
    note(shop, "one", "two")
    audit_anchors.advance_anchors(shop)
    shop.close()
    shutil.copy(tmp_path / "corner.sqlite", tmp_path / "backup.sqlite")
    note(shop, "three", "four")
    audit_anchors.advance_anchors(shop)
    assert faults(shop) == ["", ""]
    assert audit_anchors.acknowledge(shop, "nothing") == []
    shop.close()
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"corner.sqlite{suffix}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.sqlite", tmp_path / "corner.sqlite")
    restored = DemoPlatform(shop.settings)
    assert ["the last 2 are missing" in fault for fault in faults(restored)] == [True, True]
    # A server that writes on does not hide it.
    note(restored, "five")
    audit_anchors.advance_anchors(restored)
    assert ["the last 1 are missing" in fault for fault in faults(restored)] == [True, True]
    with pytest.raises(InvalidInputError):
        audit_anchors.acknowledge(restored, " ")
    found = audit_anchors.acknowledge(restored, "The disk broke; backup of Monday.")
    assert [(each.tenant, each.chain) for each in found] == [(TENANT, "audit"), (TENANT, "reads")]
    assert faults(restored) == ["", ""]
    with restored.read(as_member("olga")) as ctx:
        noted = [each.entry for each in ctx.audit.page(AuditFilter(action="acknowledge audit log"))]
    assert {entry.reason for entry in noted} == {"The disk broke; backup of Monday."}
    assert all("missing" in str(entry.before["fault"]) for entry in noted)
    note(restored, "six")
    audit_anchors.advance_anchors(restored)
    assert faults(restored) == ["", ""]
    restored.close()


def test_a_log_that_is_broken_in_itself_is_not_acknowledged(shop: DemoPlatform) -> None:
    note(shop, "one", "two", "three")
    audit_anchors.advance_anchors(shop)
    with shop.database.write() as transaction:
        transaction.connection.exec_driver_sql("DELETE FROM audit WHERE n > 1")
        transaction.connection.exec_driver_sql("UPDATE audit_seal SET entries = 1")
    with pytest.raises(ConflictError):
        audit_anchors.acknowledge(shop, "why not")
    assert all(faults(shop)[:1])
    shop.close()


def test_a_wiped_log_of_everything_is_acknowledged_too(shop: DemoPlatform) -> None:
    note(shop, "one")
    audit_anchors.advance_anchors(shop)
    with shop.database.write() as transaction:
        for table in ("audit", "audit_seal", "audit_read", "audit_read_seal"):
            transaction.connection.exec_driver_sql(f"DELETE FROM {table}")
    assert len(audit_anchors.acknowledge(shop, "lost")) == 2
    assert faults(shop) == ["", ""]
    shop.close()
