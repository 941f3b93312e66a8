"""A server with a certificate of an own authority."""

from __future__ import annotations

import json
import ssl
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from lakehold.cli import app
from tests.processes import Process


def test_a_server_speaks_https_only(tmp_path: Path) -> None:
    data = {"LAKEHOLD_DATA": str(tmp_path / "data")}
    made = CliRunner().invoke(app, ["tls", "init", "data.example.org", "--json"], env=data)
    assert made.exit_code == 0, made.output
    files = json.loads(made.stdout)
    tls = {"LAKEHOLD_CERTIFICATE": files["certificate"], "LAKEHOLD_CERTIFICATE_KEY": files["certificate_key"]}
    trusting = ssl.create_default_context(cafile=files["authority"])
    with Process("up", {**data, **tls, "LAKEHOLD_PORT": "0"}) as up:
        address = up.wait_for_line("running at").split()[-1]
        link = up.wait_for_line("one-time link").split()[-1]
        assert (address.startswith("https://127.0.0.1:"), link.startswith(address)) == (True, True)
        with httpx.Client(verify=trusting, timeout=60) as client:
            assert client.get(f"{address}/healthz").headers["strict-transport-security"] == "max-age=31536000"
            client.get(link, follow_redirects=True)
            assert client.cookies.jar
            assert all(cookie.secure for cookie in client.cookies.jar)
        for refused in (address, address.replace("https:", "http:")):
            with pytest.raises(httpx.TransportError):
                httpx.get(f"{refused}/healthz", timeout=60)
        environment = {"SSL_CERT_FILE": files["authority"], "LAKEHOLD_TOKEN": "lht_wrong"}
        with Process(f"member list --url {address}", environment) as command:
            command.wait_for_line("ign in")  # it was answered: over TLS, by the server
        assert up.stop() == 0


def test_a_certificate_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    data = {"LAKEHOLD_DATA": str(tmp_path / "data"), "LAKEHOLD_CERTIFICATE": "/nowhere/server.pem"}
    with Process("up", data) as up:
        up.wait_for_line("belong together")
        assert up.wait() == 2
    for verb in ("up", "server"):
        with Process(verb, {**data, "LAKEHOLD_CERTIFICATE_KEY": "/nowhere/key.pem"}) as refused:
            refused.wait_for_line("/nowhere/server.pem cannot be used")
            assert refused.wait() == 2
