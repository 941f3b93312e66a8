"""Connectors: each is a folder that the registry finds, and its settings know nothing of Spark."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from lakehold.connectors import registry

CONNECTORS = registry.all_connectors()


def test_all_folders_are_found() -> None:
    assert set(CONNECTORS) == {"api", "chat", "database", "files", "mail", "webhook"}


@pytest.mark.parametrize("name", CONNECTORS)
def test_a_connector_opens_what_it_has_settings_for(name: str) -> None:
    connector = CONNECTORS[name]
    assert connector.source or connector.destination
    for part, settings in (("source", connector.source), ("destination", connector.destination)):
        if settings is None:
            continue
        assert callable(getattr(import_module(f"lakehold.connectors.{name}.{part}"), f"open_{part}"))
        hint = connector.source_hint if part == "source" else connector.destination_hint
        assert hint.endswith("."), "a hint is a sentence"


def test_the_registry_does_not_load_spark() -> None:
    code = (
        "import sys; from lakehold.connectors import registry; registry.all_connectors();"
        "from lakehold.workspaces import registry as workspaces; workspaces.settings_schemas();"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - ours
