"""The page of a gateway: its states, its registration code, shown once, and its keys, which its owner revokes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from lakehold.access import Grant
from lakehold.demo import company
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.workspaces.spaces.gateways import registration
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs
from lakehold.workspaces.spaces.gateways.registration import GatewayRegistration
from lakehold.workspaces.spaces.gateways.tables import gateway_table
from tests.web.demo import Shop
from tests.web.forms import send

DANA = Caller(company.TENANT, "dana")


@pytest.fixture
def gateway(shop: Shop) -> Iterator[str]:
    with shop.platform.write(DANA) as ctx:
        uid = ctx.create("spaces.gateway", "Branch", edges={"space": "sources"})
    yield uid
    with shop.platform.write(DANA) as ctx:
        ctx.delete(uid)


def page_of(shop: Shop, uid: str, member: str = "dana") -> str:
    return shop.client(member).get(f"/resources/{uid}/data-gateway").text


def register(shop: Shop, code: str) -> None:
    keys = KeyPairs.generate()
    given = GatewayRegistration(code, keys.public, keys.prove("register", code), "9.9")
    registration.register(shop.platform, given, ClientInfo())


def test_a_gateway_is_registered_and_revoked(shop: Shop, gateway: str) -> None:
    dana, here = shop.client("dana"), f"/resources/{gateway}/data-gateway"
    assert dana.get(f"/resources/{gateway}").headers["location"].endswith("/data-gateway")
    assert "Not registered yet" in page_of(shop, gateway)
    assert "Rotate keys" not in page_of(shop, gateway)
    assert send(dana, here, f"{here}/code").headers["location"].endswith("/shown-once")
    (code,) = re.findall(r'value="(lhg_[^"]+)"', dana.get("/shown-once").text)
    assert code not in dana.get("/shown-once").text
    assert "One is open" in page_of(shop, gateway)
    register(shop, code)
    assert "It has never called" in page_of(shop, gateway)
    with shop.platform.database.write() as transaction:
        now = sa.update(gateway_table).values(heartbeat_at=shop.platform.clock())
        transaction.connection.execute(now)
    online = page_of(shop, gateway)
    assert "Online" in online
    assert "9.9" in online
    assert send(dana, here, f"{here}/rotate").status_code == 303
    assert "new ones requested" in page_of(shop, gateway)
    asked = send(dana, here, f"{here}/revoke")
    assert "in the middle of a transfer" in asked.text
    assert send(dana, here, f"{here}/revoke", confirmed="1").status_code == 303
    assert "Its keys are void" in page_of(shop, gateway)


def test_the_log_and_the_keys_are_its_owners(shop: Shop, gateway: str) -> None:
    with shop.platform.access.write(company.TENANT) as session:
        session.store.add(Grant("erik", "can_view", "sources"))
    here = f"/resources/{gateway}/data-gateway"
    assert "It has reported nothing yet" in page_of(shop, gateway)
    page = page_of(shop, gateway, "erik")
    assert "Not registered yet" in page
    assert "It has reported nothing yet" not in page
    for part in ("code", "rotate", "revoke"):
        assert send(shop.client("erik"), "/", f"{here}/{part}").status_code == 403
    assert shop.client("bella").get(here).status_code == 404
