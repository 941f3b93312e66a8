"""A fifth way of working is one folder: plugged in by its name, it is everywhere, and no line outside knows it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import Process

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Gardens:
    """A running installation with gardens in it, for its Owner."""

    environment: dict[str, str]
    address: str
    token: str

    def cli(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        done = subprocess.run(  # noqa: S603 - our own interpreter and words
            [sys.executable, "-m", "lakehold.cli", *words, "--json"],
            env={**os.environ, **self.environment, "LAKEHOLD_URL": self.address, "LAKEHOLD_TOKEN": self.token},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout) if done.stdout.strip() else None

    def get(self, path: str, **params: str) -> Any:  # noqa: ANN401 - JSON
        headers = {"Authorization": f"Bearer {self.token}"}
        found = httpx.get(f"{self.address}{path}", headers=headers, params=params, timeout=60)
        assert found.status_code == 200, found.text
        return found.json()


@pytest.fixture(scope="module")
def gardens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gardens]:
    environment = {
        "LAKEHOLD_DATA": str(tmp_path_factory.mktemp("gardens") / "data"),
        "LAKEHOLD_PORT": "0",
        "LAKEHOLD_WORKSPACES": "tests.workspaces.fifth",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])]),
    }
    words = ["init", "Acme", "--name", "Olga", "--email", "olga@acme.example", "--token", "--json"]
    made = subprocess.run(  # noqa: S603 - our own interpreter and words
        [sys.executable, "-m", "lakehold.cli", *words],
        env={**os.environ, **environment},
        input="a long enough passphrase\n",
        capture_output=True,
        text=True,
        check=True,
    )
    with Process("up", environment) as process:
        line, _ = process.wait_for_lines("running at", "is ready")
        found = Gardens(environment, line.split()[-1], json.loads(made.stdout)["token"])
        found.cli("workspace", "new", "gardens", "Rose garden")
        yield found


@pytest.fixture(scope="module")
def garden(gardens: Gardens) -> str:
    (found,) = gardens.get("/api/v1/workspaces")["items"]
    assert found["kind"] == "gardens.garden"
    return str(found["id"])


@pytest.fixture(scope="module")
def owner(gardens: Gardens) -> Iterator[httpx.Client]:
    """Signed in on the pages."""
    with httpx.Client(base_url=gardens.address, follow_redirects=True, timeout=60) as client:
        fields = {"email": "olga@acme.example", "password": "a long enough passphrase"}
        assert submit(client, "/sign-in", "/sign-in", **fields).status_code == 200
        yield client


def submit(client: httpx.Client, page: str, to: str, **fields: str) -> httpx.Response:
    token = CSRF.search(client.get(page).text)
    assert token is not None
    return client.post(
        to, data={**fields, "csrf_token": token[1]}, headers={"Origin": str(client.base_url).rstrip("/")}
    )


@pytest.fixture(scope="module")
def bed(gardens: Gardens, garden: str, owner: httpx.Client) -> str:
    """A bed that was created with its own form."""
    made = submit(owner, f"/workspaces/{garden}/beds/new", f"/workspaces/{garden}/beds/new", name="Roses", litres="12")
    assert "It takes 12 litres." in made.text
    (found,) = gardens.get("/api/v1/resources", kind="gardens.bed")["items"]
    return str(found["id"])


def test_it_is_in_the_navigation_and_has_pages(garden: str, bed: str, owner: httpx.Client) -> None:
    home = owner.get("/").text
    assert "Rose garden" in home
    assert f"/workspaces/{garden}/runs" in home
    page = owner.get(f"/resources/{bed}/bed").text
    assert all(f"/resources/{bed}/{part}" in page for part in ("runs", "triggers", "lineage"))
    for part in ("runs", "triggers", "lineage", "access"):
        assert owner.get(f"/resources/{bed}/{part}").status_code == 200, part
    assert "gardens" in owner.get("/workspaces/new").text


def test_its_settings_are_validated_through_every_door(gardens: Gardens, garden: str, owner: httpx.Client) -> None:
    there = f"/workspaces/{garden}/beds/new"
    refused = submit(owner, there, there, name="Thorns", litres="many")
    assert refused.status_code == 422
    assert "The litres of the bed must be a whole number." in refused.text
    assert 'value="Thorns"' in refused.text
    body = {"kind": "gardens.bed", "name": "Thorns", "edges": {"garden": [garden]}, "settings": {"litres": 0}}
    answer = httpx.post(
        f"{gardens.address}/api/v1/resources", json=body, headers={"Authorization": f"Bearer {gardens.token}"}
    )
    assert (answer.status_code, answer.json()["field"]) == (422, "litres")
    kinds = {kind["id"]: kind["settings"] for kind in gardens.get("/api/v1/kinds", model="gardens")["items"]}
    assert kinds["gardens.bed"]["required"] == ["litres"]


def test_it_is_in_rest_and_its_document(gardens: Gardens, bed: str) -> None:
    assert gardens.get(f"/api/v1/beds/{bed}") == {"id": bed, "litres": 12}
    assert "/api/v1/beds/{bed}" in gardens.get("/api/v1/openapi.json")["paths"]
    assert "gardens.bed" in {kind["id"] for kind in gardens.get("/api/v1/kinds", model="gardens")["items"]}


def test_it_is_run_from_the_command_line(gardens: Gardens, garden: str, bed: str, owner: httpx.Client) -> None:
    run = gardens.cli("run", "Roses")
    assert run["state"] == "succeeded"
    assert [step["rows"] for step in run["steps"]] == [12]
    assert run["id"] in owner.get(f"/workspaces/{garden}/runs").text
    assert bed in {each["resource"] for each in gardens.cli("runs")}


def test_its_lineage_is_followed(gardens: Gardens, garden: str, bed: str) -> None:
    edges = ("--edge", f"garden={garden}", "--edge", f"fed_by={bed}")
    lilies = gardens.cli("resource", "new", "gardens.bed", "Lilies", *edges)
    found = gardens.get(f"/api/v1/lineage/{lilies['id']}")
    assert bed in json.dumps(found)


def test_it_is_exported_changed_and_applied_as_code(gardens: Gardens, bed: str, tmp_path: Path) -> None:
    gardens.cli("export", str(tmp_path / "code"))
    texts = {file: file.read_text(encoding="utf-8") for file in (tmp_path / "code").rglob("*.yaml")}
    assert "gardens.garden" in "".join(texts.values())
    (file,) = (file for file, text in texts.items() if bed in text and "litres: 12" in text)
    file.write_text(texts[file].replace("litres: 12", "litres: 15"), encoding="utf-8")
    gardens.cli("apply", str(tmp_path / "code"), "--yes")
    assert gardens.get(f"/api/v1/beds/{bed}") == {"id": bed, "litres": 15}
