"""How often a gateway may call."""

from __future__ import annotations

import pytest

from lakehold.kit.clock import SECOND
from lakehold.kit.errors import BusyError
from lakehold.workspaces.spaces.gateways import call_rate
from lakehold.workspaces.spaces.gateways.call_rate import CallRate
from lakehold.workspaces.spaces.gateways.dispatch import GatewayDispatch
from lakehold.workspaces.spaces.gateways.flight_server import _MAX_BODY_BYTES, _parse
from lakehold.workspaces.spaces.gateways.key_pairs import GatewayToken
from tests.workspaces.spaces.gateways.site import TENANT, GatewaySite

NOW = 1_000 * SECOND


def accepted(rate: CallRate, at: int, calls: int, gateway: int = 1) -> int:
    """How many of so many calls at one moment are taken."""
    found = 0
    for _ in range(calls):
        try:
            rate.take(1, gateway, at)
        except BusyError:
            continue
        found += 1
    return found


def test_each_gateway_has_so_many_calls_at_once_and_then_so_many_a_second() -> None:
    rate = CallRate()
    assert accepted(rate, NOW, 5_000) == 2_000
    assert accepted(rate, NOW, 1, gateway=2) == 1
    assert accepted(rate, NOW + SECOND, 5_000) == 100
    assert accepted(rate, NOW + 600 * SECOND, 5_000) == 2_000


def test_the_calls_of_a_gateway_are_counted(site: GatewaySite, monkeypatch: pytest.MonkeyPatch) -> None:
    uid, folder = site.registered("talkative")
    calls = GatewayDispatch(site.platform)
    token = GatewayToken(TENANT, uid, "here", site.platform.clock()).sign(folder.load().keys)
    assert calls.authenticate(token).token.gateway == uid
    monkeypatch.setattr(call_rate, "_AT_ONCE", 0)
    with pytest.raises(BusyError, match="too often"):
        calls.authenticate(token)


def test_what_is_said_beside_the_rows_is_bounded() -> None:
    body = b'{"log": "' + b"x" * (_MAX_BODY_BYTES - 11) + b'"}'
    assert len(_parse(body)["log"]) == _MAX_BODY_BYTES - 11
    with pytest.raises(ValueError, match=str(len(body) + 1)):
        _parse(body + b" ")
