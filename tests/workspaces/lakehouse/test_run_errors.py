"""What a run says when what it reaches for does not answer as it should. Who may see runs need not see the settings, so
no error and no line of a log tells where a source or a destination is, or anything that it was shown.
"""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from lakehold.access import Grant
from lakehold.catalog import credentials, resources
from lakehold.directory.caller import Caller
from lakehold.runs.service import Run
from tests import postgres
from tests.lake.shop import ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns

SECRET = "hunter2geheim"
NOWHERE = "db.nowhere.invalid"


def read_by(here: InlineRuns, run: Run, reader: Caller) -> str:
    """All that somebody reads of a run."""
    with here.shop.platform.read(reader) as ctx:
        seen = RUNS.get(ctx, run.id)
        lines = [line.text for line in RUNS.log_lines(ctx, run.id)]
    return "\n".join([seen.error, *(step.error for step in seen.steps), *lines])


@pytest.fixture(scope="module", autouse=True)
def _viewers(here: InlineRuns) -> None:
    """Rita sees all that is in the layer, and may edit nothing."""
    with here.shop.platform.access.write(TENANT) as session:
        session.store.add(Grant("rita", "viewer", "raw"))


def failed(here: InlineRuns, run: Run, words: str, *hidden: str) -> None:
    visible_text = read_by(here, run, RITA)
    assert (run.state, words in run.error) == ("failed", True), run.error
    assert len(run.error) < 400
    for word in (
        *hidden,
        SECRET,
        "127.0.0.1",
        "Traceback",
        "Exception",
        "at org.",
        "/root",
        str(here.shop.platform.settings.data),
    ):
        assert word not in visible_text, visible_text
    with here.shop.platform.read(RITA) as ctx:
        assert resources.get(ctx, run.resource).settings is None


def source(here: InlineRuns, name: str, settings: dict[str, object], stream: str, **secrets: str) -> str:
    uid = here.source(f"words_{name}", settings)
    here.stream(uid, "rows", stream=stream)
    with here.shop.platform.write(ED) as ctx:
        credentials.save(ctx, uid, secrets)
    return uid


@pytest.mark.parametrize(
    ("name", "address", "user", "words"),
    [
        ("unknown_host", f"jdbc:postgresql://{NOWHERE}:5432/x", "ann", "The host in the address does not exist"),
        ("wrong_port", "jdbc:postgresql://127.0.0.1:9/x", "ann", "cannot be reached"),
        ("stranger", "jdbc:postgresql://127.0.0.1:{port}/postgres", "ann_unknown", "denied access"),
        ("no_tls", "jdbc:postgresql://127.0.0.1:{port}/postgres?sslmode=verify-full", "ann", "SSL"),
        ("link_local", "jdbc:postgresql://169.254.1.1:{port}/postgres", "ann", "this address are not allowed"),
    ],
)
@pytest.mark.parametrize("way", ["in", "out"])
def test_a_database_that_does_not_answer(  # noqa: PLR0917 - what is tried
    here: InlineRuns, server: postgres.Server, way: str, name: str, address: str, user: str, words: str
) -> None:
    there = {"address": address.format(port=server.port), "user": user}
    if way == "in":
        uid = source(here, name, {"connector": "database", **there}, "public.t", password=SECRET)
    else:
        uid = here.destination(f"words_to_{name}", {"to": "database", **there}, ("customers",))
        with here.shop.platform.write(ED) as ctx:
            credentials.save(ctx, uid, {"password": SECRET})
    failed(here, here.run(uid), words, NOWHERE, "169.254", str(server.port), "ann_unknown")


class _Echo(BaseHTTPRequestHandler):
    """Says all that it was told."""

    def do_GET(self) -> None:
        said = f"{self.path} {self.headers}".encode()
        self.send_response(302 if "moved" in self.path else 403)
        self.send_header("Content-Type", f"text/{self.headers.get('Authorization', 'x')}".replace(" ", "-"))
        if "moved" in self.path:
            self.send_header("Location", f"ftp://{NOWHERE}/{SECRET}")
        self.end_headers()
        self.wfile.write(said)

    do_POST = do_GET  # noqa: N815 - as it is called there

    def log_message(self, *_: object) -> None:
        """Not here."""


@contextmanager
def echoing(context: ssl.SSLContext | None = None) -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Echo)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def untrusted(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """What somebody shows who has made a certificate for themself."""
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=127.0.0.1")
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now).not_valid_after(now + dt.timedelta(days=1))
    signed = made.sign(key, hashes.SHA256())
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain) + signed.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def api(address: str, path: str = "rows") -> dict[str, object]:
    auth, endpoints = {"kind": "bearer"}, [{"name": "rows", "path": path}]
    api_settings = {"connector": "api", "address": address, "auth": auth, "limits": {"retries": 0}}
    return {**api_settings, "endpoints": endpoints}


def test_an_api_that_refuses_leads_elsewhere_or_is_not_to_be_trusted(
    here: InlineRuns, untrusted: ssl.SSLContext
) -> None:
    with echoing() as port, echoing(untrusted) as safe:
        for name, settings, words in (
            ("api_echo", api(f"http://127.0.0.1:{port}/{SECRET}"), "denied access: it answers 403 at /rows"),
            ("api_moved", api(f"http://127.0.0.1:{port}", "moved"), "links to an invalid address"),
            ("api_tls", api(f"https://127.0.0.1:{safe}"), "certificate that is not trusted"),
            ("api_plain", api(f"https://127.0.0.1:{port}"), "has an invalid TLS configuration"),
            ("api_nowhere", api(f"https://{NOWHERE}"), "The host in the address does not exist"),
            ("api_port", api("http://127.0.0.1:9"), "nothing answers there"),
        ):
            failed(here, here.run(source(here, name, settings, "rows", token=SECRET)), words, NOWHERE, str(port))


def test_a_webhook_that_refuses_leads_elsewhere_or_is_not_to_be_trusted(
    here: InlineRuns, untrusted: ssl.SSLContext
) -> None:
    with echoing() as port, echoing(untrusted) as safe:
        for name, address, words in (
            ("hook_echo", f"http://127.0.0.1:{port}/{SECRET}", "answered 403 Forbidden"),
            ("hook_moved", f"http://127.0.0.1:{port}/moved", "enter the target address"),
            ("hook_tls", f"https://127.0.0.1:{safe}/rows", "certificate that is not trusted"),
        ):
            settings = {"to": "webhook", "address": address, "headers": {"Authorization": f"Bearer {SECRET}"}}
            uid = here.destination(f"words_{name}", settings, ("customers",))
            failed(here, here.run(uid), words, NOWHERE, str(port), str(safe))
