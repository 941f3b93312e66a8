"""Every noun of the catalog has its page. That its examples run is tested with all pages."""

from __future__ import annotations

from tests.docs.test_docs import DOCS, blocks

NOUNS = {"workspaces", "resources", "grants", "access-requests", "ownership", "view-as", "audit-log", "access-reviews"}


def test_every_noun_has_its_page_with_examples() -> None:
    assert not [noun for noun in sorted(NOUNS) if not any(blocks(DOCS / "reference" / f"{noun}.md", "python"))]
