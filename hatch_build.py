"""Builds the web app's files into the wheel. An editable install leaves that to `make`, which does it when needed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = str(Path(__file__).parent)


class WebFiles(BuildHookInterface[Any]):
    """Runs the build of `frontend` before files are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node comes as a Python package where the machine has none."""
        node = _ours("node")
        return [] if node.system_node() else [node.PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and let the files in although they are not in the repository."""
        if version != "editable":
            _ours("builder").build()
            build_data["artifacts"].append("src/lakehold/web/static/*")


def _ours(name: str) -> ModuleType:
    """A module of the build, from the sources: nothing is installed yet."""
    if ROOT not in sys.path:
        sys.path.insert(0, ROOT)
    return importlib.import_module(f"frontend.{name}")
