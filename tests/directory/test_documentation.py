"""Every endpoint of the directory is on a page. That the examples of the pages run is tested with all pages."""

from __future__ import annotations

from tests.api.openapi_document import load_document
from tests.docs.test_docs import DOCS

NOUNS = ("members", "groups", "invites", "sign-in", "api-tokens", "service-accounts")
PAGES = [DOCS / "reference" / f"{noun}.md" for noun in NOUNS]


def test_every_address_of_the_directory_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    ours = ("first-run", "sign-in", "me", "members", "invites", "groups", "service-accounts", "tokens")
    for path in load_document()["paths"]:
        noun = path.removeprefix("/api/v1/").partition("/")[0]
        if noun in ours and "/sign-ins/" not in path:
            assert path in text, path
