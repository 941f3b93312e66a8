"""init, key, login: what keeps an installation, and what keeps a person at it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from lakehold import workspaces
from lakehold.cli import app, credentials_file
from lakehold.directory import audit_anchors, model_upgrade, tenants
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.kit import keys
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake.iceberg_catalog import IcebergCatalog, TableIdentifier, refuse_foreign_warehouse
from lakehold.ledger import outbox
from lakehold.ledger.audit import AuditFilter
from lakehold.runs import heartbeat
from tests.access.company import TENANT
from tests.cli.command_runner import CommandRunner, serve_platform
from tests.platform import ADA

SECRET = "correct horse battery"


def run(*words: str, typed: str = "", **env: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words), input=typed, env=env)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_a_copied_installation_does_not_start_until_it_is_relocated(tmp_path: Path) -> None:
    original, data = tmp_path / "data", tmp_path / "copy"
    (metadata := data / "warehouse" / "t1" / "r7" / "metadata").mkdir(parents=True)
    location = f"{original}/warehouse/t1/r7/metadata/00000-a.metadata.json"
    content = {"location": f"{original}/warehouse/t1/r7", "properties": {"write.data.path": f"{original}/warehouse/x"}}
    with closing(IcebergCatalog(Settings(data=data))) as lake:
        lake.create_namespace(TableIdentifier(1, 7))
    with sqlite3.connect(data / "lake.sqlite") as connection:
        row = ("lakehold", "t1", "r7", location, None, "TABLE")
        connection.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, ?, ?)", row)
    for verb in ("up", "server", "worker"):
        code, _, err = run(verb, LAKEHOLD_DATA=str(data))
        assert (code, "lakehold relocate" in err) == (5, True)
    code, _, err = run("relocate", LAKEHOLD_DATA=str(data))
    assert (code, "Copy the whole warehouse" in err) == (5, True)
    (metadata / "00000-a.metadata.json").write_text(json.dumps(content))
    code, out, err = run("relocate", "--json", LAKEHOLD_DATA=str(data))
    assert (code, json.loads(out)) == (0, {"relocated": 1, "warehouse": str(data / "warehouse")})
    assert "1 of 1: t1.r7" in err
    own = {"location": f"{data}/warehouse/t1/r7", "properties": {"write.data.path": f"{data}/warehouse/x"}}
    assert json.loads((metadata / "00000-a.metadata.json").read_text()) == own
    assert "already" in run("relocate", LAKEHOLD_DATA=str(data))[1]
    refuse_foreign_warehouse(Settings(data=data))
    assert not original.exists()


def test_a_copy_that_shares_the_warehouse_does_not_start_until_it_takes_it(tmp_path: Path) -> None:
    original, copied, shared = tmp_path / "data", tmp_path / "copy", str(tmp_path / "w")
    original.mkdir()
    refuse_foreign_warehouse(Settings(data=original, warehouse=shared))
    shutil.copytree(original, copied)
    for verb in ("up", "server", "worker"):
        code, _, err = run(verb, LAKEHOLD_DATA=str(copied), LAKEHOLD_WAREHOUSE=shared)
        assert (code, f"belongs to the installation at {str(original)!r}" in err) == (5, True), err
    assert run("relocate", LAKEHOLD_DATA=str(copied), LAKEHOLD_WAREHOUSE=shared)[0] == 0
    refuse_foreign_warehouse(Settings(data=copied, warehouse=shared))
    code, _, err = run("up", LAKEHOLD_DATA=str(original), LAKEHOLD_WAREHOUSE=shared)
    assert (code, f"belongs to the installation at {str(copied)!r}" in err) == (5, True), err


def test_relocate_waits_for_a_worker_that_runs(tmp_path: Path) -> None:
    platform = Platform(Settings(data=tmp_path, worker_silence=2))
    model_upgrade.migrate(platform, workspaces.models())
    heart = heartbeat.HeartbeatThread(platform, "here")
    heart.start()
    try:
        code, _, err = run("relocate", LAKEHOLD_DATA=str(tmp_path), LAKEHOLD_WORKER_SILENCE="5")
    finally:
        heart.stop()
        platform.close()
    assert (code, "A worker of this installation is running" in err) == (5, True)


# The first run


def test_init_sets_up_an_empty_installation_once(tmp_path: Path) -> None:
    words = ("init", "Corner & Main", "--name", "Olga", "--email", "olga@example.org", "--token", "--json")
    code, out, err = run(*words, typed=f"{SECRET}\n", LAKEHOLD_DATA=str(tmp_path / "data"))
    assert code == 0, err
    result = json.loads(out)
    assert result["tenant"] == "corner-main"
    platform = Platform(Settings(data=tmp_path / "data"))
    try:
        assert not tenants.is_setup_open(platform)
        assert sign_in(platform, PasswordMethod("olga@example.org", SECRET), ClientInfo()).member == result["owner"]
        with platform.read(Caller(result["tenant"], result["owner"])) as ctx:
            assert {line.entry.address for line in ctx.audit.page(AuditFilter(action="create"))} == {"local"}
        with serve_platform(platform) as address:
            env = {"LAKEHOLD_URL": address, "LAKEHOLD_TOKEN": result["token"]}
            assert run("check", "me", "manage_owners", "corner-main", **env)[1] == "yes\n"
    finally:
        platform.close()
    code, _, err = run(*words, typed=f"{SECRET}\n", LAKEHOLD_DATA=str(tmp_path / "data"))
    assert (code, json.loads(err)["code"]) == (5, "conflict")


def test_init_refuses_a_weak_password_and_leaves_nothing(tmp_path: Path) -> None:
    words = ("init", "Acme", "--name", "Olga", "--email", "olga@example.org")
    assert run(*words, typed="short\n", LAKEHOLD_DATA=str(tmp_path))[0] == 2
    platform = Platform(Settings(data=tmp_path))
    assert tenants.is_setup_open(platform)
    platform.close()


# The key


def test_a_new_key_can_be_used() -> None:
    code, out, _ = run("key", "new")
    assert code == 0
    assert keys.KeyRing([out.strip()]).decrypt(keys.KeyRing([out.strip()]).encrypt("x")) == "x"


def test_a_log_that_lost_its_end_is_acknowledged_on_the_machine(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.rename("bronze", "Raw")
    audit_anchors.advance_anchors(platform)
    env = {"LAKEHOLD_DATA": str(platform.settings.data), "LAKEHOLD_DATABASE": platform.settings.database_url}
    assert run("audit", "verify", "--local", **env)[0] == 0
    with platform.database.write() as transaction:
        for name in ("audit", "audit_seal"):
            transaction.connection.execute(sa.text(f"DELETE FROM {name}"))
    code, out, _ = run("audit", "verify", "--local", **env)
    assert (code, "the last 1 are missing" in out) == (1, True)
    code, out, err = run("audit", "acknowledge", "--reason", "backup of Monday", **env)
    assert (code, "the last 1 are missing" in out) == (0, True), err
    assert run("audit", "verify", "--local", **env)[0] == 0
    assert "Nothing was missing" in run("audit", "acknowledge", "--reason", "again", **env)[1]


def test_keys_are_rotated_and_everything_is_written_anew(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.rename("bronze", "Raw")
        kept_body = platform.keys.encrypt("a link")
        outbox.enqueue(ctx.session.transaction, ctx.session.tenant, 0, receiver="a@x.test", subject="s", body=kept_body)
    env = {"LAKEHOLD_DATA": str(platform.settings.data), "LAKEHOLD_DATABASE": platform.settings.database_url}
    old = (platform.settings.data / "key").read_text().split()
    assert run("key", "rotate", **env)[0] == 0
    ring = (platform.settings.data / "key").read_text().split()
    assert ring[1:] == old
    assert run("audit", "verify", "--local", **env)[0] == 0
    code, _, err = run("key", "finish", **env)
    assert code == 0, err
    assert "mails: 1" in err
    assert (platform.settings.data / "key").read_text().split() == ring[:1]
    assert (platform.settings.data / "key").stat().st_mode & 0o077 == 0
    assert run("audit", "verify", "--local", **env)[0] == 0
    with platform.database.read() as transaction:
        (mail,) = outbox.due_messages(transaction, 1)
    assert keys.KeyRing(ring[:1]).decrypt(mail.body) == "a link"
    with pytest.raises(InvalidInputError):
        keys.KeyRing(old).decrypt(mail.body)


def test_a_log_that_does_not_verify_is_not_sealed_anew(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.rename("bronze", "Raw")
    with platform.database.write() as transaction:
        transaction.connection.exec_driver_sql("UPDATE audit SET body = '{}'")
    env = {"LAKEHOLD_DATA": str(platform.settings.data), "LAKEHOLD_DATABASE": platform.settings.database_url}
    run("key", "rotate", **env)
    code, _, err = run("key", "finish", **env)
    assert code == 2
    assert "does not verify" in err
    assert len((platform.settings.data / "key").read_text().split()) == 2


def test_a_key_of_the_environment_is_rotated_there(tmp_path: Path) -> None:
    code, _, err = run("key", "rotate", LAKEHOLD_DATA=str(tmp_path), LAKEHOLD_KEY=keys.generate_key())
    assert code == 5
    assert "LAKEHOLD_KEY" in err


# Who one is


def test_login_keeps_what_works_for_its_owner_alone(platform: Platform) -> None:
    with serve_platform(platform) as address:
        token = CommandRunner(platform, address).token("ada")
        code, out, _ = run("login", "--url", address, typed=f"{token}\n")
        assert code == 0
        assert token not in out
        assert credentials_file.credentials_path().stat().st_mode & 0o777 == 0o600
        assert run("check", "me", "see", TENANT)[1] == "yes\n"
    # A token goes nowhere but where it was meant to go.
    assert credentials_file.resolve_login("http://127.0.0.1:1").token == ""
    assert run("logout")[0] == 0
    assert run("check", "me", "see", TENANT)[0] == 4
    assert run("logout")[1] == "Not signed in.\n"


def test_login_does_not_keep_what_does_not_work(platform: Platform) -> None:
    with serve_platform(platform) as address:
        assert run("login", "--url", address, typed="lh_nobody\n")[0] == 4
    assert not credentials_file.credentials_path().exists()


def test_a_login_that_others_can_read_is_not_used() -> None:
    credentials_file.store(credentials_file.Login("http://127.0.0.1:1", "lh_x"))
    os.chmod(credentials_file.credentials_path(), 0o644)  # noqa: PTH101 - as a person would
    code, _, err = run("check", "me", "see", TENANT)
    assert code == 2
    assert "chmod 600" in err
    credentials_file.credentials_path().write_text("{")
    assert run("check", "me", "see", TENANT)[0] == 2


def test_a_server_that_does_not_answer() -> None:
    code, _, err = run("check", "me", "see", TENANT, LAKEHOLD_URL="http://127.0.0.1:1", LAKEHOLD_TOKEN="lh_x")
    assert code == 6
    assert "cannot be reached" in err


def test_a_token_that_is_not_one(platform: Platform) -> None:
    with serve_platform(platform) as address:
        assert run("check", "me", "see", TENANT, LAKEHOLD_URL=address, LAKEHOLD_TOKEN="lh_x")[0] == 4


# The database of this machine


def test_where_there_is_nobody_or_more_than_one(platform: Platform, tmp_path: Path) -> None:
    code, _, err = run("member", "list", "--local", LAKEHOLD_DATA=str(tmp_path / "empty"))
    assert code == 3
    assert "lakehold up" in err
    platform.access.create_tenant("other", "Other", workspaces.models())
    env = {"LAKEHOLD_DATA": str(platform.settings.data), "LAKEHOLD_DATABASE": platform.settings.database_url}
    code, _, err = run("member", "list", "--local", **env)
    assert code == 2
    assert "acme, other" in err
    assert run("member", "list", "--local", "--tenant", TENANT, **env)[0] == 0
    assert run("member", "list", "--local", "--tenant", TENANT, "--as", "eve", **env)[0] == 3
    assert run("member", "list", "--local", "--tenant", "nowhere", **env)[0] == 3
