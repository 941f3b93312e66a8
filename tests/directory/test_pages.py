"""What the pages of the directory's nouns show works, in their order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from lakehold.api.http.app import assemble_app
from tests.docs.test_docs import DOCS, named, run_examples

PAGES = sorted((DOCS / "directory").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_examples(page)


def test_every_address_of_the_directory_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    ours = ("first-run", "sign-in", "me", "members", "invites", "groups", "service-accounts", "tokens")
    for path in assemble_app().openapi()["paths"]:
        noun = path.removeprefix("/api/v1/").partition("/")[0]
        if noun in ours and "/sign-ins/" not in path:
            assert path in text, path
