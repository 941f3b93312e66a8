"""Secrets of a resource: encrypted, copied only by who may, and with a line in the log."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from lakehold.catalog import credentials, resource_edit
from lakehold.catalog.credentials import credential_table
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit import keys
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.ledger.audit import AuditFilter
from tests.demo_company import DemoPlatform, as_member

SECRET = "correct horse battery staple"


def kept(corner: DemoPlatform) -> list[str]:
    with corner.database.read() as transaction:
        return list(transaction.connection.execute(sa.select(credential_table.c.secret)).scalars())


def test_they_are_set_by_who_edits_and_copied_by_who_may(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, "webshop_db", {"password": SECRET, "user": "reader"})
    assert all(SECRET not in secret for secret in kept(corner))
    with corner.write(as_member("tim")) as ctx:  # it is shared for maintenance
        assert credentials.copy(ctx, "webshop_db") == {"password": SECRET, "user": "reader"}
    (line,) = corner.log(AuditFilter(action="copy_credentials"))
    assert (line.entry.member, line.entry.resource) == ("tim", "webshop_db")
    assert line.entry.after == {"credentials": ["password", "user"]}
    with corner.read(as_member("olga")) as ctx:
        assert SECRET not in "".join(ctx.audit.export(AuditFilter()))


def test_who_may_only_use_it_copies_nothing(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, "lake", {"password": SECRET})
    with pytest.raises(DeniedError, match="copy credentials"), corner.write(as_member("tim")) as ctx:
        credentials.copy(ctx, "lake")
    with pytest.raises(DeniedError), corner.read(as_member("tim")) as ctx:
        credentials.list_names(ctx, "lake")
    with pytest.raises(HiddenError), corner.write(as_member("bella")) as ctx:
        credentials.copy(ctx, "lake")
    with pytest.raises(DeniedError), corner.write(as_member("tim")) as ctx:
        credentials.save(ctx, "lake", {"password": "mine"})
    assert [line.entry.outcome for line in corner.log(AuditFilter(action="copy_credentials"))] == ["denied", "denied"]


def test_one_is_replaced_or_taken_away(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, "lake", {"password": SECRET, "user": "reader"})
        credentials.save(ctx, "lake", {"password": "another", "user": None})
        assert credentials.list_names(ctx, "lake") == ["password"]
        assert credentials.copy(ctx, "lake") == {"password": "another"}


def test_kinds_whose_credentials_are_never_copied(corner: DemoPlatform) -> None:
    with corner.write(as_member("dana")) as ctx:
        credentials.save(ctx, "till_link", {"password": SECRET})
        assert credentials.list_names(ctx, "till_link") == ["password"]
        with pytest.raises(InvalidInputError, match="cannot be copied"):
            credentials.copy(ctx, "till_link")


def test_who_edits_does_not_get_at_them_by_sending_them_elsewhere(corner: DemoPlatform) -> None:
    here = {"connector": "database", "address": "jdbc:postgresql://ours/db", "user": "reader"}
    there = {"connector": "database", "address": "jdbc:postgresql://theirs/db"}
    with corner.write(as_member("dana")) as ctx:
        resource_edit.apply_edit(ctx, "till_link", ResourceEdit(settings=here))
        credentials.save(ctx, "till_link", {"password": SECRET})
        assert credentials.load_for_test(ctx, "till_link", {**here, "user": "writer"}) == {"password": SECRET}
        assert credentials.load_for_test(ctx, "till_link", there) == {}
        resource_edit.apply_edit(ctx, "till_link", ResourceEdit(settings={**here, "user": "writer"}))
        assert credentials.list_names(ctx, "till_link") == ["password"]
        resource_edit.apply_edit(ctx, "till_link", ResourceEdit(settings=there))
        assert credentials.list_names(ctx, "till_link") == []
    assert [line.entry.before for line in corner.log(AuditFilter(action="forget credentials"))] == [
        {"credentials": ["password"]}
    ]


def test_who_may_copy_them_may_send_them_elsewhere(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, "lake", {"password": SECRET})
        resource_edit.apply_edit(
            ctx, "lake", ResourceEdit(settings={"kind": "database", "address": "jdbc:postgresql://new/db"})
        )
        assert credentials.list_names(ctx, "lake") == ["password"]


def test_copying_needs_a_transaction_that_can_write_it_down(corner: DemoPlatform) -> None:
    with pytest.raises(ForbiddenError), corner.read(as_member("tara")) as ctx:
        credentials.copy(ctx, "lake")


def test_a_rotated_key_reads_what_the_old_one_wrote_and_then_replaces_it(corner: DemoPlatform, tmp_path: Path) -> None:
    with corner.write(as_member("tara")) as ctx:
        for n in range(3):
            credentials.save(ctx, "lake", {f"key {n}": f"{SECRET} {n}"})
    old = kept(corner)
    file = tmp_path / "data" / "key"
    ring = keys.rotate_key_file(file)
    with corner.database.write() as transaction:
        assert credentials.reencrypt(transaction, ring) == 3
    assert not set(old) & set(kept(corner))
    alone = keys.KeyRing(file.read_text().split()[:1])  # the old key is thrown away
    assert sorted(alone.decrypt(secret) for secret in kept(corner)) == [f"{SECRET} {n}" for n in range(3)]


def test_more_than_fit_at_once_are_all_written_anew(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_AT_ONCE", 2)
    with corner.write(as_member("olga")) as ctx:
        for uid in ("lake", "webshop_db", "till_files"):
            credentials.save(ctx, uid, {"a": "1", "b": "2"})
    old = kept(corner)
    with corner.database.write() as transaction:
        assert credentials.reencrypt(transaction, corner.keys) == 6
    assert not set(old) & set(kept(corner))


@pytest.mark.parametrize(
    "given", [{"": "x"}, {"a": ""}, {"a": 7}, {"a": "x" * 20_001}, {"a": "\ud800"}, ["a"], {"a\x00": "x"}]
)
def test_bad_input(corner: DemoPlatform, given: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError) as raised, corner.write(as_member("tara")) as ctx:
        credentials.save(ctx, "lake", given)
    assert "x" * 20 not in str(raised.value)
    assert kept(corner) == []
