"""Parses a page into its links, its forms with the values they would send, and its refusals with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

Pairs = list[tuple[str, str]]


@dataclass(slots=True)
class Form:
    """A form as it would be sent without a change, and the values that its lists offer."""

    action: str
    fields: Pairs = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """The names of its fields that can be changed."""

    def filled(self, **values: str) -> dict[str, list[str]]:
        """What is sent with these values in place of what was there."""
        sent: dict[str, list[str]] = {}
        for name, value in self.fields:
            sent.setdefault(name, []).append(value)
        return {**sent, **{name: [value] for name, value in values.items()}}


@dataclass(frozen=True, slots=True)
class Page:
    """A page, read when somebody wants to know what is on it."""

    text: str = ""
    _read: list[_Reader] = field(default_factory=list)

    @property
    def links(self) -> set[str]:
        """Where it leads."""
        return self._reader.links

    @property
    def forms(self) -> list[Form]:
        """What can be sent."""
        return self._reader.forms

    @property
    def refused(self) -> dict[str, str]:
        """The labels of what cannot be done, with the reason."""
        return self._reader.refused

    def form(self, action: str) -> Form | None:
        """The first form that is sent there."""
        return next((form for form in self.forms if form.action == action), None)

    @property
    def _reader(self) -> _Reader:
        if not self._read:
            self._read.append(_Reader(self.text))
        return self._read[0]


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.forms: list[Form] = []
        self.refused: dict[str, str] = {}
        self._form: Form | None = None
        self._list = self._label = ""
        self._area: str | None = None
        self._open: list[tuple[str, str]] = []
        self._text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Note what it is."""
        found = {name: value or "" for name, value in attrs}
        if tag not in _EMPTY:
            self._open.append((tag, found.get("class", "")))
        match tag:
            case "a":
                self.links.add(found.get("href", ""))
            case "form" if found.get("method") == "post":
                self._form = Form(found["action"])
                self.forms.append(self._form)
            case "input" | "textarea" | "select" | "option" if self._form is not None:
                self._field(self._form, tag, found)
        if tag in {"b", "button", "small", "p", "textarea"}:
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        """Note what was said in it."""
        classes = next((kind for name, kind in reversed(self._open) if name == tag), "").split()
        said = " ".join("".join(self._text).split())
        inside = {word for _, kind in self._open for word in kind.split()}
        if (tag == "button" and "refused" in classes) or (tag == "b" and "menu-refused" in inside):
            self._label = said
        elif (tag == "p" and "why-text" in classes) or (tag == "small" and "menu-refused" in inside):
            self.refused[self._label] = said
        elif tag == "form":
            self._form = None
        elif tag == "textarea" and self._form is not None and self._area is not None:
            self._form.fields.append((self._area, "".join(self._text)))
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Words."""
        self._text.append(data)

    def _field(self, form: Form, tag: str, found: dict[str, str]) -> None:
        name, value = found.get("name", ""), found.get("value", "")
        if tag == "option":
            form.options.setdefault(self._list, []).append(value)
            if "selected" in found:
                form.fields.append((self._list, value))
            return
        if "disabled" in found or not name:
            self._list = self._area = ""
            return
        form.open.add(name)
        chosen = found.get("type") in {"checkbox", "radio"}
        if tag == "select":
            self._list = name
        elif tag == "textarea":
            self._area = name
        elif not chosen or "checked" in found:
            form.fields.append((name, value))
        if chosen:
            form.options.setdefault(name, []).append(value)


_EMPTY = frozenset({"input", "br", "hr", "img", "meta", "link", "use"})
