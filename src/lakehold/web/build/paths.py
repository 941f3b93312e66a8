"""The directories that the build reads and writes."""

from __future__ import annotations

from pathlib import Path

WEB_DIR = Path(__file__).resolve().parents[1]
FRONT = WEB_DIR / "front"
"""Our own sources, and the list of npm packages."""
STATIC = WEB_DIR / "static"
"""What browsers get."""
MANIFEST = STATIC / "manifest.json"
BUILD_DIR = WEB_DIR.parents[2] / "build" / "web"
"""Where npm packages lie while we build. Outside the package, and outside the repository."""
MODULES = BUILD_DIR / "node_modules"
AXE = MODULES / "axe-core" / "axe.min.js"
"""The accessibility checker, for tests only."""
