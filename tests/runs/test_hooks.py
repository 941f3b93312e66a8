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
from lakehold.catalog import credentials, editing, resources
from lakehold.catalog import workspaces as places
from lakehold.catalog.editing import Edit
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.kit.clock import now
from lakehold.ledger import outbox
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import sending
from lakehold.runs.running import Running
from lakehold.runs.warm import Warm
from tests.house import ADA, ANN, BOB
from tests.pipeline.outward.receiver import Answer, Receiver, receiver
from tests.runs.test_notices import failed
from tests.runs.test_triggers import query

SECRET = "shared with the receiver"
HOST = "hooks.example.test"
WITH_PASSWORD = f"me:pw@{HOST}"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def running(house: Installation) -> Running:
    house.settings = house.settings.model_copy(update={"private_addresses": True})
    return Running(house, workspaces.runnables(), dict, Warm(house, ""))


def hooked(house: Installation, uid: str, url: str, by: Caller = ADA) -> None:
    with house.write(by) as work:
        told = {} if uid == "lh" else {"sql": "SELECT 1", "table": "daily"}
        editing.edit(work, uid, Edit(settings={**told, "failure_webhook": url}))
        credentials.put(work, uid, {"failure_webhook": SECRET})


def waiting(house: Installation) -> list[outbox.Mail]:
    with house.database.read() as transaction:
        return outbox.due(transaction, house.clock(), kinds=[outbox.WEBHOOK])


def sent(house: Installation) -> str:
    (found,) = waiting(house)
    problem = sending.send(house, found.id, found.tries)
    sending.write_down(house, found.id, found.tries, problem)
    return problem


def test_it_is_signed_and_says_what_failed(house: Installation, running: Running, hook: Receiver) -> None:
    uid = query(house, "daily")
    hooked(house, uid, hook.url)
    failed(house, running, uid)
    with house.database.read() as transaction:
        lying = str(transaction.connection.execute(sa.select(outbox_table)).one())
    assert SECRET not in lying
    assert "t0psecret" not in lying
    assert sent(house) == ""
    (came,) = hook.came
    told = json.loads(came.body)
    assert (told["event"], told["resource"], told["error"]) == ("run.failed", "daily", "The source has no rows.")
    assert told["address"].endswith(f"/runs/{told['run']}")
    stamp = came.headers["Lakehold-Timestamp"]
    sealed = hmac.new(SECRET.encode(), f"{stamp}.".encode() + came.body, hashlib.sha256).hexdigest()
    assert came.headers["Lakehold-Signature"] == f"v1={sealed}"
    assert waiting(house) == []


def test_it_is_sent_again_under_the_same_key_until_it_is_taken(
    house: Installation, running: Running, hook: Receiver
) -> None:
    uid = query(house, "daily")
    hooked(house, uid, hook.url)
    failed(house, running, uid)
    hook.answers = [Answer(503), Answer(500, b"t0psecret")]
    for seconds in (0, 31, 100):
        house.clock = lambda wait=seconds: now() + wait * 1_000_000  # type: ignore[misc]
        problem = sent(house)
        assert ("was not taken" in problem) == (seconds < 100)
        assert "t0psecret" not in problem
    assert len({came.headers["Idempotency-Key"] for came in hook.came}) == 1
    assert len({came.body for came in hook.came}) == 1
    assert len(hook.came) == 3
    assert waiting(house) == []


def test_the_address_of_the_workspace_serves_what_has_none(
    house: Installation, running: Running, hook: Receiver
) -> None:
    hooked(house, "lh", hook.url)
    failed(house, running, query(house, "daily"))
    assert sent(house) == ""
    assert json.loads(hook.came[0].body)["name"] == "daily"


def test_who_may_no_longer_see_it_is_told_nothing(house: Installation, running: Running) -> None:
    uid = query(house, "daily")
    with house.write(ADA) as work:
        work.session.store.add(Grant("bob", "editor", "bronze"))
    hooked(house, uid, f"https://{HOST}", by=BOB)
    failed(house, running, uid)
    assert len(waiting(house)) == 1
    with house.write(ADA) as work:
        work.make(Remove(Grant("bob", "editor", "bronze")))
    failed(house, running, uid)
    assert len(waiting(house)) == 1
    hooked(house, uid, f"https://{HOST}/other", by=ANN)
    failed(house, running, uid)
    assert len(waiting(house)) == 2


def test_an_owner_of_a_report_who_lost_its_mart_is_told_nothing(house: Installation, running: Running) -> None:
    with house.write(ADA) as work:
        places.create(work, "marts", "Sales", uid="sales")
        here = {"project": "sales"}
        resources.create(work, "marts.storage", "s", uid="s", edges=here, settings={"kind": "files", "folder": ""})
        mart = {"by": "table", "table": "t", "published": True}
        resources.create(work, "marts.data_mart", "m", uid="m", edges={**here, "storage": "s"}, settings=mart)
        resources.create(work, "marts.destination", "d", uid="d", edges=here, settings={"to": "files", "kind": "csv"})
        resources.create(work, "marts.report", "r", uid="r", edges={"data_mart": "m", "destination": "d"})
        for grant in (Grant("bob", "business_user", "sales"), Grant("bob", "owner", "r")):
            work.make(Add(grant))
        work.make(Add(Attribute("m", "shared_for_reporting", "true")))
    with house.write(BOB) as work:
        editing.edit(work, "r", Edit(settings={"failure_webhook": f"https://{HOST}"}))
    failed(house, running, "r")
    assert len(waiting(house)) == 1
    with house.write(ADA) as work:
        work.make(Remove(Attribute("m", "shared_for_reporting", "true")))
    failed(house, running, "r")
    assert len(waiting(house)) == 1


@pytest.mark.parametrize("url", [f"http://{HOST}", "https://127.0.0.1:9", f"https://{WITH_PASSWORD}", "x", "//"])
def test_nothing_is_sent_where_nothing_may_be(house: Installation, running: Running, url: str) -> None:
    house.settings = house.settings.model_copy(update={"private_addresses": False})
    uid = query(house, "daily")
    hooked(house, uid, url)
    failed(house, running, uid)
    assert "address" in sent(house)
