"""Which folders the build reads and writes."""

from __future__ import annotations

from pathlib import Path

WEB = Path(__file__).resolve().parents[1]
FRONT = WEB / "front"
"""Our own sources, and the list of npm packages."""
STATIC = WEB / "static"
"""What browsers get."""
MANIFEST = STATIC / "manifest.json"
WORK = WEB.parents[2] / "build" / "web"
"""Where npm packages lie while we build. Outside the package, and outside the repository."""
MODULES = WORK / "node_modules"
AXE = MODULES / "axe-core" / "axe.min.js"
"""The accessibility checker, for tests only."""
