"""A message: Markdown in which `{{ … }}` stands for what the report has found.

What is found stays a value: it is put in after the Markdown has become HTML or the words of a chat, so that nothing in
it is read as a link, a tag or a call to everybody.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote as quote_text
from lakehold.lake.markdown import as_chat, as_html, escape_chat
from lakehold.workspaces.marts.messages.charts import Chart
from lakehold.workspaces.marts.messages.first import First
from lakehold.workspaces.marts.messages.tables import Table

IN_CHAT = "**{{ name }}**: {{ rows }} rows\n\n{{ table }}"
"""What is said where the report has no message of its own."""
_LONGEST = 20_000
_NAMED = re.compile(r"\{\{([^{}]*)\}\}")
# Letters that nobody writes: they stand for a value while Markdown is read.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_ALONE = re.compile(rf"<p>{_OPEN}(\d+){_CLOSE}</p>")
_HREF = re.compile(r'href="[^"]*"')
_CHAT_LINK = re.compile(r"<(?:https?://|mailto:)[^|<>]*\|")
_CALLS = re.compile(r"@(?=(?:channel|here|everyone|all)\b)", re.IGNORECASE)
_UNSEEN = "\u200b"


class _Part(Protocol):
    @property
    def block(self) -> bool: ...
    def text(self) -> str: ...
    def html(self) -> str: ...
    def chat(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Written:
    """A message, ready to be sent."""

    text: str
    html: str
    chat: str
    """As a chat reads it that understands Slack's mrkdwn."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be said."""

    template: str

    def check(self, columns: Sequence[str]) -> None:
        """Refuse what a report with these columns cannot say."""
        self.written(First("", "", tuple(columns)))

    @property
    def counts(self) -> bool:
        """Whether it says how many rows there are."""
        return any(found[1].strip() in {"rows", "table"} for found in _NAMED.finditer(self.template))

    def written(self, first: First) -> Written:
        """What it says of these rows."""
        if len(self.template) > _LONGEST:
            raise InvalidInputError(f"The message has {len(self.template):,} characters.", f"Use {_LONGEST:,} at most.")
        parts: list[_Part] = []

        def marked(found: re.Match[str]) -> str:
            parts.append(_part(found[1].strip(), first))
            return f"{_OPEN}{len(parts) - 1}{_CLOSE}"

        plain = _NAMED.sub(marked, self.template.replace(_OPEN, "").replace(_CLOSE, ""))
        chat = _CHAT_LINK.sub(_quoted(parts), as_chat(plain))
        page = _HREF.sub(_quoted(parts), as_html(plain))
        return Written(
            _MARK.sub(_each(parts, lambda part: part.text()), plain),
            _MARK.sub(_each(parts, lambda part: part.html()), _ALONE.sub(_blocks(parts), page)),
            _MARK.sub(_each(parts, lambda part: part.chat()), chat),
        )


@dataclass(frozen=True, slots=True)
class _Value:
    said: str
    block = False

    def text(self) -> str:
        return self.said

    def html(self) -> str:
        return html.escape(self.said)

    def chat(self) -> str:
        """Some chats read Markdown, and call people by name: not because of a value."""
        apart = self.said.replace("](", f"]{_UNSEEN}(")
        return escape_chat(_CALLS.sub(f"@{_UNSEEN}", apart))


def _part(said: str, first: First) -> _Part:
    word, _, rest = said.partition(" ")
    match word:
        case "rows" if not rest:
            return _Value(first.counted())
        case "day" if not rest:
            return _Value(first.day)
        case "name" if not rest:
            return _Value(first.name)
        case "table" if not rest:
            return Table(first)
        case "chart" if rest:
            return _chart(rest, first)
        case "column" if rest:
            return _Value(first.value(rest.strip()))
        case _:
            return _Value(first.value(said))


def _chart(rest: str, first: First) -> Chart:
    try:
        names = shlex.split(rest)
    except ValueError:
        names = []
    if len(names) != 2:  # noqa: PLR2004 - what is drawn, and by what
        raise InvalidInputError(
            f"The chart {quote_text(rest)} cannot be drawn.", 'Name two columns: {{ chart day "sum of amount" }}.'
        )
    for name in names:
        first.place(name)
    return Chart(first, *names)


def _each(parts: Sequence[_Part], told: Callable[[_Part], str]) -> Callable[[re.Match[str]], str]:
    return lambda found: told(parts[int(found[1])])


def _blocks(parts: Sequence[_Part]) -> Callable[[re.Match[str]], str]:
    """A table is no part of a paragraph."""
    return lambda found: parts[int(found[1])].html() if parts[int(found[1])].block else found[0]


def _quoted(parts: Sequence[_Part]) -> Callable[[re.Match[str]], str]:
    """What stands in an address is a part of it, whatever it is."""
    return lambda link: _MARK.sub(_each(parts, lambda part: quote(part.text(), safe="")), link[0])
