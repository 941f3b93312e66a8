"""Fills the values of a submitted form into the same form on a rendered page.

It works on HTML, so that every form is filled without code of its own. A form whose fields depend on what was submitted
(rows that were added, fields of a chosen type) is rendered with them first: see `pages.restored_form`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote

_NOT_FILLED = frozenset({"submit", "button", "image", "reset", "file", "password"})
_CHECKED = frozenset({"checkbox", "radio"})
_NEVER = "csrf_token"
_SECRET_NAMES = frozenset({"secret", "kept"})

Attributes = dict[str, str | None]


@dataclass(slots=True)
class _Control:
    """A control of a form: its tag in the page, and the place of its content."""

    tag: str
    attributes: Attributes
    start: int
    end: int
    content_end: int = 0
    options: list["_Control"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.attributes.get("name") or ""

    @property
    def type(self) -> str:
        return (self.attributes.get("type") or "text").lower() if self.tag == "input" else self.tag

    @property
    def value(self) -> str:
        return self.attributes.get("value") or ("on" if self.type in _CHECKED else "")

    @property
    def is_visible(self) -> bool:
        return self.type not in {"hidden", "submit", "button", "reset", "image"}

    def tag_with(self, **changes: str | bool | None) -> str:
        """Return the start tag with other attributes: False removes one, True sets one without a value."""
        merged: dict[str, str | bool | None] = {**self.attributes, **changes}
        parts = (
            "" if value is False else f" {name}" if value in {None, True} else f' {name}="{escape(str(value))}"'
            for name, value in merged.items()
        )
        return f"<{self.tag}{''.join(parts)}>"


@dataclass(slots=True)
class _Form:
    """A form of the page, with all its controls."""

    start: int = 0
    folded: tuple[_Control, ...] = ()
    """What it lies in and may be closed."""
    actions: set[str] = field(default_factory=set)
    controls: list[_Control] = field(default_factory=list)


class _FormParser(HTMLParser):
    """Finds the forms of a page. A control belongs to the form around it, or to that which it names."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._lines = [0]
        for line in html.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self.forms: dict[str, _Form] = defaultdict(_Form)
        self.content = 0
        self._form = ""
        self._open: _Control | None = None
        self._folded: list[_Control] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note forms and controls."""
        attributes, start = dict(attrs), self._offset()
        end = start + len(self.get_starttag_text() or "")
        match tag:
            case "main":
                self.content = end
            case "form":
                self._form = attributes.get("id") or f"#{start}"
                form = self.forms[self._form]
                form.start, form.folded = start, tuple(self._folded)
                form.actions.add(_plain(attributes.get("action") or ""))
            case "details" | "dialog":
                self._folded.append(_Control(tag, attributes, start, end))
            case "option" if self._open:
                self._open.options.append(_Control(tag, attributes, start, end))
            case "input" | "select" | "textarea" | "button":
                self._add(_Control(tag, attributes, start, end))

    def handle_endtag(self, tag: str) -> None:
        """Note where a form ends, and the content of a control."""
        if tag == "form":
            self._form = ""
        elif tag in {"details", "dialog"} and self._folded:
            self._folded.pop()
        elif self._open and tag == self._open.tag:
            self._open.content_end, self._open = self._offset(), None

    def _add(self, control: _Control) -> None:
        owner = control.attributes.get("form") or self._form
        if not owner:
            return
        form = self.forms[owner]
        if action := control.attributes.get("formaction"):
            form.actions.add(_plain(action))
        if "disabled" not in control.attributes:
            form.controls.append(control)
        if control.tag in {"select", "textarea"}:
            self._open = control

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


class FormFiller:
    """A page, and what becomes of it with the values of a submitted form."""

    def __init__(self, html: str, action: str, fields: Sequence[tuple[str, str]]) -> None:
        self._html = html
        self._edits: list[tuple[int, int, str]] = []
        self._left: dict[str, list[str]] = defaultdict(list)
        for name, value in fields:
            self._left[name].append(value)
        self._sent = set(self._left)
        parser = _FormParser(html)
        form = _best_form(parser.forms.values(), _plain(action), self._left)
        controls = form.controls if form else []
        self.asks_password = any(each.type == "password" for each in controls)
        """Whether the form has a password, which is never filled in."""
        self.has_controls = any(each.is_visible for each in controls)
        """Whether the form has more than buttons."""
        self._notice_at = form.start if form and self.has_controls else parser.content
        for each in controls:
            self._fill(each)
        for each in form.folded if form and self.has_controls else ():
            self._edit(each, each.tag_with(open=True))
        buttons = {each.name for each in controls if not each.is_visible}
        self.unplaced = [(name, value) for name, value in self._unplaced() if name not in buttons | {"do"}]
        """Values for which the page has no field any more."""

    def to_html(self, notice: str) -> str:
        """Return the page with the form filled in, and a notice above it."""
        html = self._html
        for start, end, text in sorted([*self._edits, (self._notice_at, self._notice_at, notice)], reverse=True):
            html = html[:start] + text + html[end:]
        return html

    def _fill(self, control: _Control) -> None:
        left = self._left[control.name]
        if control.type in _CHECKED:
            if control.type == "radio" and control.name not in self._sent:
                return
            checked = control.value in left
            if checked and control.type == "checkbox":
                left.remove(control.value)
            elif checked:
                left.clear()
            self._edit(control, control.tag_with(checked=checked))
        elif not left or control.name == _NEVER:
            return
        elif control.tag == "select":
            self._select(control, left)
        elif control.tag == "textarea":
            text = escape(left.pop(0), quote=False)
            # The first line break of a textarea is none of its value.
            self._edits.append(
                (control.end, control.content_end, f"\n{text}" if text.startswith(("\n", "\r")) else text)
            )
        else:
            value = left.pop(0)
            if control.type not in _NOT_FILLED:
                self._edit(control, control.tag_with(value=value))

    def _select(self, control: _Control, left: list[str]) -> None:
        known = [each.value for each in control.options]
        chosen = [value for value in left if value in known]
        if "multiple" not in control.attributes:
            chosen = chosen[:1] if left[0] in known else []
        for value in chosen:
            left.remove(value)
        for option in control.options if chosen else ():
            self._edit(option, option.tag_with(selected=option.value in chosen))

    def _edit(self, control: _Control, text: str) -> None:
        self._edits.append((control.start, control.end, text))

    def _unplaced(self) -> Iterator[tuple[str, str]]:
        for name, values in self._left.items():
            if name not in _SECRET_NAMES:
                yield from ((name, value) for value in values if value.strip())


def _best_form(forms: Iterable[_Form], action: str, sent: dict[str, list[str]]) -> _Form | None:
    """Return the form that was sent. Of several with one address, their hidden fields tell."""

    def rank(form: _Form) -> tuple[bool, bool, int, int]:
        # A search form of the same address changes nothing, and so has no token.
        has_token = any(each.name == _NEVER for each in form.controls)
        own = [each for each in form.controls if each.name and each.name != _NEVER]
        hidden = sum(1 if each.value in sent.get(each.name, ()) else -1 for each in own if each.type == "hidden")
        return action in form.actions, has_token, hidden, sum(each.name in sent for each in own)

    def is_alike(form: _Form) -> bool:
        shared = any(each.is_visible and each.name in sent for each in form.controls)
        return action in form.actions or shared

    return max(filter(is_alike, forms), key=rank, default=None)


def _plain(address: str) -> str:
    return unquote(address.partition("#")[0])
