"""The forms of a page, as a browser without scripts sends them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

_SCRIPTED = ("hx-post", "hx-put", "hx-patch", "hx-delete")


@dataclass(slots=True)
class Form:
    """Where it is sent, and what it is filled with."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """The names of its fields for files."""
    elsewhere: list[str] = field(default_factory=list)
    """Where some of its buttons send it instead."""


def forms_in(html: str, at: str) -> list[Form]:
    """All that change something. One that only a script would send has no action, and leads to where it is."""
    reader = _Reader(at)
    reader.feed(html)
    reader.close()
    return [form for form in reader.found if form.method == "post"]


class _Reader(HTMLParser):
    def __init__(self, at: str) -> None:
        super().__init__()
        self._at = at
        self.found: list[Form] = []
        self._open: Form | None = None
        self._select: str | None = None
        self._options: list[tuple[str, bool]] = []
        self._textarea: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "form":
            method = "post" if any(name in named for name in _SCRIPTED) else named.get("method", "get").lower()
            self._open = Form(self._there(named.get("action", "")), method)
            self.found.append(self._open)
        elif any(name in named for name in _SCRIPTED):
            self.found.append(Form(self._at, "post"))
        elif self._open is not None:
            self._field(self._open, tag, named)

    def _field(self, form: Form, tag: str, named: dict[str, str]) -> None:
        name, value, kind = named.get("name", ""), named.get("value", ""), named.get("type", "")
        if tag == "button" and "formaction" in named:
            form.elsewhere.append(self._there(named["formaction"]))
        elif tag == "input" and kind == "file":
            form.files.append(name)
        elif tag == "input" and name and (kind not in {"checkbox", "radio"} or "checked" in named):
            form.fields.append((name, value))
        elif tag == "select":
            self._select, self._options = name, []
        elif tag == "option" and self._select is not None:
            self._options.append((value, "selected" in named))
        elif tag == "textarea":
            self._textarea = name

    def handle_data(self, data: str) -> None:
        if self._open is not None and self._textarea:
            self._open.fields.append((self._textarea, data))
            self._textarea = None

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "textarea":
            self._textarea = None
        elif tag == "select" and self._open is not None and self._select:
            chosen = [value for value, is_chosen in self._options if is_chosen] or [v for v, _ in self._options[:1]]
            self._open.fields.extend((self._select, value) for value in chosen)
            self._select = None

    def _there(self, action: str) -> str:
        return urlsplit(urljoin(self._at, action))._replace(scheme="", netloc="").geturl()
