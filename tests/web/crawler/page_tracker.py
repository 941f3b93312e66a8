"""Tracks visited pages. Of similar pages, one is visited."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.web.crawler.templates import AddressTemplates

NO_PAGES = {
    "/resources/{uid:path}/app/csv": "a file",
    "/resources/{uid:path}/destination/file": "a file",
    "/resources/{uid:path}/files/download": "a file",
    "/resources/{uid:path}/graph/live": "a part of the page of a project",
    "/resources/{uid:path}/project-file/download": "a file",
    "/resources/{uid:path}/task/live": "a part of the page of a task",
    "/reviews/{uid}/result.csv": "a file",
    "/reviews/{uid}/result.jsonl": "a file",
    "/reviews/{uid}/worked-out/{job}": "a file",
    "/runs/{run}/live": "a part of the page of a run",
    "/ui/patterns/errors/{status}": "an error, looked at where those are",
    "/ui/search": "what the palette found, as JSON",
    "/workspaces/{uid:path}/sql/fields": "what the editor completes, as JSON",
    "/workspaces/{uid:path}/sql/names": "what the editor completes, as JSON",
}
"""What is answered there instead of a page."""

_OF_EACH_KIND = {"/resources/{uid:path}", "/resources/{uid:path}/pipeline", "/workspaces/{uid:path}"}
"""Pages that differ with the kind of what they are about."""
_STEPS = {"connector", "kind", "mart", "model", "storage", "to", "type"}
"""What the address of a form says once that was chosen: its page is another one then."""

PageShape = tuple[str, str, frozenset[str]]
"""What pages alike have in common."""
VisitPage = Callable[[str, str], Iterable[str]]
"""Looks at an address, to which another page led, and tells where it leads."""


class PageTracker:
    """The pages that have been visited."""

    def __init__(self, templates: AddressTemplates, kinds: Mapping[str, str]) -> None:
        self._templates, self._kinds = templates, kinds
        self._seen: set[PageShape] = set()

    @property
    def unseen(self) -> set[str]:
        """Templates of pages that nobody was shown."""
        return set(self._templates.all()) - {template for template, *_ in self._seen} - set(NO_PAGES)

    def visit_all(self, starts: Iterable[str], look: VisitPage) -> None:
        """Follow links from these addresses to all pages that are new."""
        waiting = deque((start, "") for start in starts)
        known = set[str]()
        while waiting:
            address, led_by = waiting.popleft()
            if address not in known and self.is_new(address):
                known.add(address)
                waiting.extend((link, address) for link in look(address, led_by))

    def is_new(self, address: str) -> bool:
        """Whether nobody has seen a page like the one there."""
        about = self._about(address)
        return about not in self._seen and about[0] not in NO_PAGES

    def mark_visited(self, address: str) -> None:
        """Mark the page as visited."""
        self._seen.add(self._about(address))

    def _about(self, address: str) -> PageShape:
        parts = urlsplit(address)
        template, uid = self._templates.match(address), unquote(parts.path).split("/")[2:3]
        kind = self._kinds.get(uid[0], "") if uid and template in _OF_EACH_KIND else ""
        return template, kind, frozenset(dict(parse_qsl(parts.query))) & _STEPS
