"""Where a page leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

_NOT_PAGES = ("/static/", "/api/", "/access/")

_LEADING = re.compile(r"<[a-z][^<>]*\s(?:href|hx-get|data-get-[a-z-]+|action)=[^<>]*>")
"""Signs like < are never themselves in our attributes."""


def links_in(html: str, at: str) -> list[str]:
    """The addresses of our own pages that a page leads to, each once, in order."""
    reader = _Reader()
    # Only tags that may lead somewhere: the parser takes its time for each, and pages have hundreds of others.
    reader.feed("".join(_LEADING.findall(html)))
    return list(dict.fromkeys(address for found in reader.found if (address := _own(found, at))))


def _own(found: str, at: str) -> str:
    parts = urlsplit(urljoin(at, found))
    if parts.scheme or parts.netloc or parts.path.startswith(_NOT_PAGES):
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.found.extend(_addresses(tag, named))


def _addresses(tag: str, named: dict[str, str]) -> Iterator[str]:
    if tag == "a" and named.get("href"):
        yield named["href"]
    if named.get("hx-get"):
        yield named["hx-get"]
    # What scripts ask for.
    yield from (value for name, value in named.items() if name.startswith("data-get-"))
    if tag == "form" and named.get("method", "get").lower() == "get" and named.get("action"):
        yield named["action"]
