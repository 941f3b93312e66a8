"""A database fixture for tests that do not depend on the database. It is SQLite only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def database_url(template_file: Path, tmp_path: Path) -> str:
    """An empty SQLite database with all tables, for one test."""
    file = tmp_path / "lakehold.sqlite"
    shutil.copy(template_file, file)
    return f"sqlite:///{file}"
