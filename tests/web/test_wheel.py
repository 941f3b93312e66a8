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


def _uv(*words: str) -> None:
    done = subprocess.run([UV, *words], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)  # noqa: S603 - our own words
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with nothing in it but the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("wheel")
    _uv("build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    _uv("venv", "--quiet", "--python", sys.executable, str(folder / "env"))
    found = folder / "env" / "bin" / "python"
    required = ROOT / "requirements.txt"
    _uv("pip", "install", "--quiet", "--python", str(found), "-r", str(required))
    _uv("pip", "install", "--quiet", "--python", str(found), "--no-deps", str(wheel))
    return found


def test_the_wheel_alone_serves_the_whole_app(python: Path, tmp_path: Path) -> None:
    # Nothing that an environment does not bring itself is on the path: no Node above all.
    environment = {"LAKEHOLD_DATA": str(tmp_path / "data"), "LAKEHOLD_PORT": "0", "PATH": str(tmp_path)}
    with Process("server", environment, python=python) as server:
        address = re.findall(r"http://127.0.0.1:[0-9]+", server.wait_for_line("http://127.0.0.1:"))[0]
        with httpx.Client(base_url=address, headers={"Accept": "text/html"}, timeout=30) as client:
            page = client.get("/sign-in")
            assert page.status_code == 200
            files = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text))
            assert {Path(file).suffix for file in files} >= {".css", ".js"}
            for file in files:
                assert client.get(file).status_code == 200, file
            assert client.get("/ui/patterns").status_code == 200
