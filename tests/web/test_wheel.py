"""The wheel has the whole web app in it: whoever installs it needs no Node and no repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.processes import Process

pytestmark = [pytest.mark.slow, pytest.mark.rare]

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"


def _uv(*words: str, folder: Path) -> None:
    done = subprocess.run([UV, *words], cwd=folder, capture_output=True, text=True, timeout=900, check=False)  # noqa: S603 - our own words
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment into which the wheel was installed, with the requirements that it names itself.

    All of it outside of the repository, so that neither its lock files nor its settings of uv are read.
    """
    folder = tmp_path_factory.mktemp("wheel")
    _uv("build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT), folder=ROOT)
    (wheel,) = folder.glob("*.whl")
    _uv("venv", "--quiet", "--python", sys.executable, "env", folder=folder)
    found = folder / "env" / "bin" / "python"
    _uv("pip", "install", "--quiet", "--python", str(found), str(wheel), folder=folder)
    _uv("pip", "check", "--quiet", "--python", str(found), folder=folder)
    return found


def test_the_demo_starts_from_the_wheel(python: Path, tmp_path: Path) -> None:
    script = python.with_name("lakehold")
    done = subprocess.run([script, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert "demo" in done.stdout
    with Process("demo", {"LAKEHOLD_PORT": "0"}, python=python, folder=tmp_path) as demo:
        address = demo.wait_for_line("running at").split()[-1]
        demo.wait_for_line("Ctrl-C stops it.")
        link = next(line.strip() for line in demo.output if "/link/" in line)
        with httpx.Client(base_url=address, headers={"Accept": "text/html"}, timeout=60) as client:
            token = re.search(r'name="csrf_token" value="([^"]+)"', client.get(link).text)
            assert token
            assert client.post(link, data={"csrf_token": token[1]}).status_code == 303
            assert "Welcome back" in client.get("/").text
            assert client.get("/workspaces").status_code == 200
    assert (tmp_path / "lakehold-demo").is_dir()


def test_the_wheel_alone_serves_the_whole_app(python: Path, tmp_path: Path) -> None:
    # Nothing that an environment does not bring itself is on the path: no Node above all.
    environment = {"LAKEHOLD_DATA": str(tmp_path / "data"), "LAKEHOLD_PORT": "0", "PATH": str(tmp_path)}
    with Process("server", environment, python=python, folder=tmp_path) as server:
        address = re.findall(r"http://127.0.0.1:[0-9]+", server.wait_for_line("http://127.0.0.1:"))[0]
        with httpx.Client(base_url=address, headers={"Accept": "text/html"}, timeout=30) as client:
            page = client.get("/sign-in")
            assert page.status_code == 200
            files = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text))
            assert {Path(file).suffix for file in files} >= {".css", ".js"}
            for file in files:
                assert client.get(file).status_code == 200, file
            assert client.get("/ui/patterns").status_code == 200
