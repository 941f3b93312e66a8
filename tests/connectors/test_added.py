"""A connector that is one folder and plugged in by its name is offered, validated and documented wherever it fits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakehold.connectors import registry
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from tests.connectors.queue.connector import QueueDestinationSettings, QueueSourceSettings
from tests.processes import Process

ROOT = Path(__file__).parents[2]
CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
PASSWORD = "a long enough passphrase"
FORMS = {
    "source": ("/workspaces/lake/pipelines/new/source", "connector"),
    "destination of a lakehouse": ("/workspaces/lake/pipelines/new/destination", "to"),
    "data mart": ("/workspaces/sales/marts/fed", "connector"),
    "destination of a project": ("/workspaces/sales/destinations/new", "to"),
}


class Site:
    """A running server with the connector, and its Owner on the pages and over REST."""

    def __init__(self, address: str, token: str) -> None:
        self.rest = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self.pages = httpx.Client(base_url=address, timeout=60)

    def submit(self, path: str, **fields: str) -> httpx.Response:
        token = CSRF.search(self.pages.get(path).text)
        assert token
        origin = {"Origin": str(self.pages.base_url).rstrip("/")}
        return self.pages.post(path, data={**fields, "csrf_token": token[1]}, headers=origin)

    def create(self, kind: str, name: str, edges: dict[str, list[str]], settings: dict[str, Any]) -> httpx.Response:
        body = {"kind": kind, "name": name, "edges": edges, "settings": settings}
        return self.rest.post("/api/v1/resources", json=body)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    environment = {
        "LAKEHOLD_DATA": str(tmp_path_factory.mktemp("queues") / "data"),
        "LAKEHOLD_PORT": "0",
        "LAKEHOLD_CONNECTORS": "tests.connectors.queue",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])]),
    }
    words = ["init", "Acme", "--name", "Olga", "--email", "olga@acme.example", "--token", "--json"]
    made = subprocess.run(  # noqa: S603 - our own interpreter and words
        [sys.executable, "-m", "lakehold.cli", *words],
        env={**os.environ, **environment},
        input=f"{PASSWORD}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    with Process("server", environment) as server:
        address = re.findall(r"http://127.0.0.1:[0-9]+", server.wait_for_line("http://127.0.0.1:"))[0]
        found = Site(address, json.loads(made.stdout)["token"])
        assert found.submit("/sign-in", email="olga@acme.example", password=PASSWORD).status_code == 303
        for uid, model in (("lake", "lakehouse"), ("sales", "marts")):
            new = found.rest.post("/api/v1/workspaces", json={"id": uid, "model": model, "name": uid.capitalize()})
            assert new.status_code == 201, new.text
        yield found


@pytest.mark.parametrize("name", FORMS)
def test_it_is_offered_with_a_form_from_its_schema(site: Site, name: str) -> None:
    path, choice = FORMS[name]
    offered = site.pages.get(path).text
    assert f"{choice}=queue" in offered
    assert "Message queue" in offered
    form = site.pages.get(f"{path}?{choice}=queue").text
    for field in ("broker", "encoding_of_messages", "compressed", "per_message" if choice == "to" else "topics"):
        assert f'name="{field}"' in form, field
    assert re.search(r'<option value="json" selected>Json</option>', form)
    assert ("Only these topics." in form) == (choice == "connector")
    refused = site.submit(f"{path}?{choice}=queue", **{choice: "queue"}, name="Orders", broker="", per_message="no")
    assert refused.status_code == 422
    assert "Enter a broker." in refused.text
    assert ("Enter a number of 1 or more." in refused.text) == (choice == "to")


def test_it_is_saved_by_its_form_and_shown_again(site: Site) -> None:
    path, choice = FORMS["destination of a project"]
    # Its setting `name` is another one than the name of the destination.
    fields = {"name": "Orders", "broker": "broker.shop", "compressed": "1", "per_message": "7", "name_setting": "Shop"}
    saved = site.submit(f"{path}?{choice}=queue", **{choice: "queue"}, **fields, do="save")
    assert saved.status_code == 303, saved.text
    (found,) = site.rest.get("/api/v1/resources", params={"kind": "marts.destination"}).json()["items"]
    settings = site.rest.get(f"/api/v1/resources/{found['id']}").json()["settings"]
    stored = {"to": "queue", "broker": "broker.shop", "compressed": True, "per_message": 7, "name": "Shop"}
    assert settings == {**stored, "encoding_of_messages": "json"}
    assert "broker.shop" in site.pages.get(f"/resources/{found['id']}/destination").text
    assert 'value="broker.shop"' in site.pages.get(f"/resources/{found['id']}/destination/edit").text


@pytest.mark.parametrize(
    ("kind", "edge", "settings", "wrong"),
    [
        ("lakehouse.source", {"lakehouse": ["lake"]}, {"connector": "queue"}, "broker"),
        ("lakehouse.source", {"lakehouse": ["lake"]}, {"connector": "queue", "broker": "b", "topics": 1}, "topics"),
        (
            "lakehouse.destination",
            {"lakehouse": ["lake"]},
            {"to": "queue", "broker": "b", "per_message": 0},
            "per_message",
        ),
        ("marts.destination", {"project": ["sales"]}, {"to": "queue", "broker": "b", "typo": 1}, "typo"),
        ("marts.data_mart", {"project": ["sales"]}, {"by": "connector", "connector": "queue", "stream": "s"}, "broker"),
        (
            "marts.data_mart",
            {"project": ["sales"]},
            {"by": "connector", "connector": "queue", "stream": "s", "broker": "b", "encoding_of_messages": "x"},
            "encoding_of_messages",
        ),
    ],
)
def test_its_settings_are_validated_over_rest(
    site: Site, kind: str, edge: dict[str, list[str]], settings: dict[str, Any], wrong: str
) -> None:
    refused = site.create(kind, "Wrong", edge, settings)
    assert (refused.status_code, refused.json()["field"]) == (422, wrong), refused.text


def test_it_is_in_the_document_of_rest(site: Site) -> None:
    schemas = site.rest.get("/api/v1/openapi.json").json()["components"]["schemas"]
    assert schemas["QueueSourceSettings"]["required"] == ["broker"]
    for kind in ("lakehouse.source", "lakehouse.destination", "marts.destination"):
        assert "queue" in schemas[f"settings.{kind}"]["discriminator"]["mapping"]
    assert "topics" in schemas["settings.marts.data_mart"]["properties"]
    assert "queue" in schemas["settings.marts.data_mart"]["properties"]["connector"]["enum"]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The registry reads the environment anew; what the platform has in this process stays as it is."""
    monkeypatch.setattr(registry, "_packages", registry._packages.__wrapped__)
    return monkeypatch


def test_it_is_opened_from_its_package(added: pytest.MonkeyPatch) -> None:
    added.setenv("LAKEHOLD_CONNECTORS", "tests.connectors.queue")
    environment = ConnectorEnvironment(Settings(), {})
    source = registry.open_source(environment, QueueSourceSettings(broker="b", topics=("orders",)))
    assert [each.name for each in source.streams()] == ["orders"]
    to = QueueDestinationSettings(broker="b")
    assert registry.open_destination(environment, to, DeliveryRequest()).check() == "b takes messages."


def test_a_package_that_is_none_is_told_with_its_name(added: pytest.MonkeyPatch) -> None:
    added.setenv("LAKEHOLD_CONNECTORS", "no.such")
    with pytest.raises(InvalidInputError, match=r"no\.such is not a connector package"):
        registry._packages()


def test_two_connectors_do_not_share_a_name(added: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "other_mail"
    package.mkdir()
    (package / "connector.py").write_text(
        "from lakehold.connectors.mail.connector import CONNECTOR\n", encoding="utf-8"
    )
    added.syspath_prepend(str(tmp_path))
    added.setenv("LAKEHOLD_CONNECTORS", "other_mail")
    with pytest.raises(InvalidInputError, match="second connector that is called 'mail'"):
        registry._packages()
