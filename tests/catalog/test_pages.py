"""The pages of the catalog are true: their examples run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.docs.test_docs import DOCS, named, run_examples

PAGES = sorted((DOCS / "catalog").glob("*.md"))


def test_every_noun_has_its_page() -> None:
    nouns = {"workspaces", "resources", "grants", "requests", "ownership", "view-as", "audit", "reviews"}
    assert {page.stem for page in PAGES} == nouns


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_examples(page)
