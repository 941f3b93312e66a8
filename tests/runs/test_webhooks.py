"""A failed run is told to an address: signed, again until it is taken, and only what its owner may see."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from lakehold import workspaces
from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import credentials, network_policy, resource_edit, resource_metadata, resources
from lakehold.catalog import workspaces as catalog_workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.clock import now
from lakehold.kit.network_policy import SCHEMA
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.ledger import outbox
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import notifications
from lakehold.worker.run_executor import RunExecutor
from lakehold.worker.spark_session import SparkRuntime
from tests.lake.destinations.receiver import Answer, Receiver, run_receiver
from tests.platform import ADA, ANN, BOB
from tests.runs.test_notifications import failed
from tests.runs.test_triggers import query

SECRET = "shared with the receiver"
HOST = "hooks.example.test"
WITH_PASSWORD = f"me:pw@{HOST}"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with run_receiver() as found:
        yield found


@pytest.fixture
def running(platform: Platform) -> RunExecutor:
    platform.settings = platform.settings.model_copy(update={"private_addresses": True})
    return RunExecutor(platform, workspaces.runnables(), dict, SparkRuntime(platform, ""))


def hooked(platform: Platform, uid: str, url: str, by: Caller = ADA) -> None:
    with platform.write(by) as ctx:
        settings = {} if uid == "lh" else {"sql": "SELECT 1", "table": "daily"}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={**settings, "failure_webhook": url}))
        credentials.save(ctx, uid, {"failure_webhook": SECRET})


def waiting(platform: Platform) -> list[outbox.OutboxMessage]:
    with platform.database.read() as transaction:
        return outbox.due_messages(transaction, platform.clock(), kinds=[outbox.WEBHOOK])


def sent(platform: Platform) -> str:
    (found,) = waiting(platform)
    problem = notifications.send(platform, found.id, found.tries)
    notifications.record_result(platform, found.id, found.tries, problem)
    return problem


def test_it_is_signed_and_says_what_failed(platform: Platform, running: RunExecutor, hook: Receiver) -> None:
    uid = query(platform, "daily")
    hooked(platform, uid, hook.url)
    failed(platform, running, uid)
    with platform.database.read() as transaction:
        lying = str(transaction.connection.execute(sa.select(outbox_table)).one())
    assert SECRET not in lying
    assert "t0psecret" not in lying
    assert sent(platform) == ""
    (came,) = hook.requests
    body = json.loads(came.body)
    assert (body["event"], body["resource"], body["error"]) == ("run.failed", "daily", "The source has no rows.")
    assert (body["cause"], body["cause_kind"]) == ("by hand", "manual")
    assert body["address"].endswith(f"/runs/{body['run']}")
    stamp = came.headers["Lakehold-Timestamp"]
    sealed = hmac.new(SECRET.encode(), f"{stamp}.".encode() + came.body, hashlib.sha256).hexdigest()
    assert came.headers["Lakehold-Signature"] == f"v1={sealed}"
    assert waiting(platform) == []


def test_it_is_sent_again_under_the_same_key_until_it_is_taken(
    platform: Platform, running: RunExecutor, hook: Receiver
) -> None:
    uid = query(platform, "daily")
    hooked(platform, uid, hook.url)
    failed(platform, running, uid)
    hook.answers = [Answer(503), Answer(500, b"t0psecret")]
    for seconds in (0, 31, 100):
        platform.clock = lambda wait=seconds: now() + wait * 1_000_000  # type: ignore[misc]
        problem = sent(platform)
        assert ("was not accepted" in problem) == (seconds < 100)
        assert "t0psecret" not in problem
    assert len({came.headers["Idempotency-Key"] for came in hook.requests}) == 1
    assert len({came.body for came in hook.requests}) == 1
    assert len(hook.requests) == 3
    assert waiting(platform) == []


def test_the_address_of_the_workspace_serves_what_has_none(
    platform: Platform, running: RunExecutor, hook: Receiver
) -> None:
    hooked(platform, "lh", hook.url)
    failed(platform, running, query(platform, "daily"))
    assert sent(platform) == ""
    assert json.loads(hook.requests[0].body)["name"] == "daily"


def test_who_may_no_longer_see_it_is_told_nothing(platform: Platform, running: RunExecutor) -> None:
    uid = query(platform, "daily")
    with platform.write(ADA) as ctx:
        ctx.session.store.add(Grant("bob", "editor", "bronze"))
    hooked(platform, uid, f"https://{HOST}", by=BOB)
    failed(platform, running, uid)
    assert len(waiting(platform)) == 1
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Grant("bob", "editor", "bronze")))
    failed(platform, running, uid)
    assert len(waiting(platform)) == 1
    hooked(platform, uid, f"https://{HOST}/other", by=ANN)
    failed(platform, running, uid)
    assert len(waiting(platform)) == 2


def test_an_owner_of_a_report_who_lost_its_mart_is_told_nothing(platform: Platform, running: RunExecutor) -> None:
    with platform.write(ADA) as ctx:
        catalog_workspaces.create(ctx, "marts", "Sales", uid="sales")
        here = {"project": "sales"}
        resources.create(ctx, "marts.storage", "s", uid="s", edges=here, settings={"kind": "files", "folder": ""})
        mart = {"by": "table", "table": "t"}
        edges = {**here, "storage": "s"}
        resources.create(ctx, "marts.data_mart", "m", uid="m", edges=edges, settings=mart, managed={"published": True})
        resources.create(ctx, "marts.destination", "d", uid="d", edges=here, settings={"to": "files", "kind": "csv"})
        resources.create(ctx, "marts.report", "r", uid="r", edges={"data_mart": "m", "destination": "d"})
        for grant in (Grant("bob", "business_user", "sales"), Grant("bob", "owner", "r")):
            ctx.make(Add(grant))
        ctx.make(Add(Attribute("m", "shared_for_reporting", "true")))
    with platform.write(BOB) as ctx:
        resource_edit.apply_edit(ctx, "r", ResourceEdit(settings={"failure_webhook": f"https://{HOST}"}))
    failed(platform, running, "r")
    assert len(waiting(platform)) == 1
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Attribute("m", "shared_for_reporting", "true")))
    failed(platform, running, "r")
    assert len(waiting(platform)) == 1


NO_ADDRESSES = (f"https://{WITH_PASSWORD}", "x", "//")


@pytest.mark.parametrize("url", [f"http://{HOST}", "https://127.0.0.1:9", *NO_ADDRESSES])
def test_nothing_is_sent_where_nothing_may_be(platform: Platform, running: RunExecutor, url: str) -> None:
    platform.settings = platform.settings.model_copy(update={"private_addresses": False})
    uid = query(platform, "daily")
    if url in NO_ADDRESSES:
        with pytest.raises(InvalidSettingError, match="webhook for failures"):
            hooked(platform, uid, url)
    # As it may have been stored before it was validated.
    hooked(platform, uid, f"https://{HOST}")
    with platform.write(ADA) as ctx:
        resource_metadata.save_managed(ctx, uid, {"failure_webhook": url})
    failed(platform, running, uid)
    assert "address" in sent(platform)


def test_the_network_policy_counts_when_it_is_sent(platform: Platform, running: RunExecutor, hook: Receiver) -> None:
    uid = query(platform, "daily")
    hooked(platform, uid, hook.url)
    failed(platform, running, uid)
    with platform.write(ADA) as ctx:
        network_policy.save(ctx, SCHEMA.parse({"destination_hosts": ["hooks.example.test"]}))
    (message,) = waiting(platform)
    problem = notifications.send(platform, message.id, message.tries)
    assert "network policy" in problem
    assert "127.0.0.1" not in problem
    assert not hook.requests
    with platform.write(ADA) as ctx:
        network_policy.save(ctx, SCHEMA.parse({"destination_hosts": ["127.0.0.0/8"]}))
    assert notifications.send(platform, message.id, message.tries) == ""
    assert len(hook.requests) == 1
