"""Registration codes, registration, rotation and revocation of gateways."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from threading import Thread

import pytest
import uvicorn

from lakehold.access import Grant
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.spaces.gateways.agent.identity_folder import IdentityFolder
from lakehold.workspaces.spaces.gateways.agent.registration import PATH
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs, seal
from tests.api.client import json_body, problem
from tests.processes import Process
from tests.workspaces.spaces.gateways.site import TENANT, GatewaySite, registration, run_gateway, start_gateway


@pytest.fixture
def url(site: GatewaySite) -> Iterator[str]:
    """The server over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(site.api.app, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def test_secrets_are_for_one_key_and_one_order_only() -> None:
    keys, other = KeyPairs.generate(), KeyPairs.generate()
    sealed = seal(keys.public, "hunter2", "order 1")
    assert "hunter2" not in sealed
    assert keys.unseal(sealed, "order 1") == "hunter2"
    for wrong, context in ((other, "order 1"), (keys, "order 2")):
        with pytest.raises(InvalidInputError):
            wrong.unseal(sealed, context)


def test_a_gateway_is_registered_by_the_command(site: GatewaySite, url: str) -> None:
    uid = site.gateway("by_command")
    assert site.status(uid)["state"] == "never_registered"
    code, folder = site.code(uid), IdentityFolder(site.folder / "by_command")
    assert site.status(uid)["code_until"]
    register = f"gateway register --server {url} --code {code} --folder {folder.path}"
    with Process(register, {}) as process:
        process.wait_for_line("Registered as by_command")
        assert process.wait() == 0
    assert folder.file.stat().st_mode & 0o077 == 0
    assert folder.load().gateway == uid
    found = site.status(uid)
    assert (found["state"], found["fingerprint"]) == ("offline", folder.load().keys.public.fingerprint)
    with Process(f"{register}2", {}) as process:
        process.wait_for_line("not valid")
        assert process.wait() == 4
    written = site.api.get("/api/v1/access/audit", "ada", params={"resource": uid})
    assert {"create registration code", "register gateway"} <= {each["action"] for each in json_body(written)["items"]}
    assert code not in written.text


def test_a_code_is_used_once_and_replaced_by_the_next(site: GatewaySite) -> None:
    uid = site.gateway("codes")
    old, keys = site.code(uid), KeyPairs.generate()
    code = site.code(uid)
    assert problem(site.api.post(PATH, json=registration(old, keys)), 401, "unauthorized")
    wrong = {**registration(code, keys), "proof": KeyPairs.generate().prove("register", code)}
    assert problem(site.api.post(PATH, json=wrong), 422, "invalid_input")
    weak = {**registration(code, keys), "sealing_key": "A" * 43 + "="}
    assert problem(site.api.post(PATH, json=weak), 422, "invalid_input")
    assert json_body(site.api.post(PATH, json=registration(code, keys)), 201)["gateway"] == uid
    assert problem(site.api.post(PATH, json=registration(code, KeyPairs.generate())), 401, "unauthorized")


@pytest.mark.parametrize("heir", ["olga", ""], ids=["another owner", "no owner"])
def test_a_code_is_void_when_its_maker_may_no_longer_edit_the_gateway(site: GatewaySite, heir: str) -> None:
    uid = site.gateway(f"inherited by {heir}")
    code, keys = site.code(uid), KeyPairs.generate()
    with site.platform.access.write(TENANT) as session:
        session.store.remove(Grant("gina", "owner", uid))
        if heir:
            session.store.add(Grant(heir, "owner", uid))
    assert problem(site.api.post(PATH, json=registration(code, keys)), 401, "unauthorized")
    assert site.status(uid)["state"] == "never_registered"


def test_a_code_is_void_when_its_maker_has_left_the_data_space(site: GatewaySite) -> None:
    uid = site.gateway("left behind")
    code, keys, left = site.code(uid), KeyPairs.generate(), Grant("gina", "can_manage", "sales")
    with site.platform.access.write(TENANT) as session:
        session.store.remove(left)
    try:
        assert problem(site.api.post(PATH, json=registration(code, keys)), 401, "unauthorized")
    finally:
        with site.platform.access.write(TENANT) as session:
            session.store.add(left)


def test_a_code_of_an_earlier_owner_is_void(site: GatewaySite) -> None:
    uid, keys = site.gateway("handed_over"), KeyPairs.generate()
    code = site.code(uid)
    with site.platform.access.write(TENANT) as session:
        session.store.remove(Grant("gina", "owner", uid))
        session.store.add(Grant("olga", "owner", uid))
    assert problem(site.api.post(PATH, json=registration(code, keys)), 401, "unauthorized")
    fresh = str(json_body(site.api.post(f"/api/v1/gateways/{uid}/code", "olga"), 201)["code"])
    assert json_body(site.api.post(PATH, json=registration(fresh, keys)), 201)["gateway"] == uid


def test_only_its_owner_registers_and_revokes(site: GatewaySite) -> None:
    uid = site.gateway("mine")
    for verb in ("code", "rotate", "revoke"):
        assert problem(site.api.post(f"/api/v1/gateways/{uid}/{verb}", "vito"), 403, "forbidden")
        assert problem(site.api.post(f"/api/v1/gateways/{uid}/{verb}", "olga"), 403, "forbidden")
        assert problem(site.api.post(f"/api/v1/gateways/{uid}/{verb}", "uma"), 404, "not_found")
    assert problem(site.api.get(f"/api/v1/gateways/{uid}/log", "vito"), 403, "forbidden")
    assert problem(site.api.post(f"/api/v1/gateways/{uid}/revoke", "gina"), 409, "conflict")


def test_keys_are_rotated_and_the_process_goes_on(site: GatewaySite) -> None:
    uid, folder = site.registered("rotated")
    before = folder.load().keys.public.fingerprint
    with run_gateway(folder) as process:
        json_body(site.api.post(f"/api/v1/gateways/{uid}/rotate", "gina"), 200)
        process.wait_for_line("new keys")
        assert site.order(uid, "streams").wait(20)["streams"] is not None
        found = site.status(uid)
        assert found["fingerprint"] == folder.load().keys.public.fingerprint != before
        assert (found["state"], found["rotation_due"]) == ("online", False)


def test_keys_that_only_the_platform_knows_of_are_found_again(site: GatewaySite) -> None:
    """The process was killed after the platform had the new keys, and before its own file had them."""
    _, folder = site.registered("torn")
    found = folder.load()
    folder.save(replace(found, keys=KeyPairs.generate(), other=found.keys))
    with run_gateway(folder):
        pass
    assert folder.load().keys.public == found.keys.public


def test_a_second_process_takes_the_place_of_the_first(site: GatewaySite) -> None:
    _, folder = site.registered("twice")
    with run_gateway(folder) as first, run_gateway(folder):
        first.wait_for_line("Another process runs as this gateway")
        assert first.wait() == 4


def test_a_revoked_gateway_is_out(site: GatewaySite) -> None:
    uid, folder = site.registered("revoked")
    with run_gateway(folder) as process:
        assert json_body(site.api.post(f"/api/v1/gateways/{uid}/revoke", "gina"))["state"] == "revoked"
        process.wait_for_line("not registered")
        assert process.wait() == 4
    with start_gateway(folder) as process:
        assert process.wait() == 4
