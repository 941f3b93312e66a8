"""Packages that are named as further ways of working, and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces import registry

# What the platform has in this process stays as it is.
fresh = registry.all_workspaces.__wrapped__


def test_a_package_that_is_none_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOLD_WORKSPACES", "no.such")
    with pytest.raises(InvalidInputError, match=r"no\.such is not a workspace package"):
        fresh()


def test_two_ways_of_working_do_not_share_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "other_marts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "workspace.py").write_text(
        "from dataclasses import replace\n"
        "from lakehold.workspaces.marts import workspace\n"
        "WORKSPACE = replace(workspace.WORKSPACE, folder=None)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LAKEHOLD_WORKSPACES", "other_marts")
    with pytest.raises(InvalidInputError, match="second way of working that is called 'marts'"):
        fresh()


def test_one_that_is_added_stands_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOLD_WORKSPACES", "tests.workspaces.fifth")
    assert [workspace.name for workspace in fresh()] == ["gardens", "lakehouse", "marts", "products", "spaces"]
