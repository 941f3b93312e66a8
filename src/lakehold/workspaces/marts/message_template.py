"""The template of a report's message: Markdown in which `{{ … }}` stands for values, a table or a chart.

Values are inserted after the Markdown has become HTML or chat markup, so that nothing in them is read as a link, a tag
or a mention.
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
from lakehold.workspaces.marts.message_blocks import ChartBlock, MessageData, TableBlock

DEFAULT_TEMPLATE = "**{{ name }}**: {{ rows }} rows\n\n{{ table }}"
"""What is said where the report has no message of its own."""
_MAX_TEMPLATE_LENGTH = 20_000
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
# Letters that nobody writes: they stand for a value while Markdown is read.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_LONE_MARK = re.compile(rf"<p>{_OPEN}(\d+){_CLOSE}</p>")
_HREF = re.compile(r'href="[^"]*"')
_CHAT_LINK = re.compile(r"<(?:https?://|mailto:)[^|<>]*\|")
_MENTION = re.compile(r"@(?=(?:channel|here|everyone|all)\b)", re.IGNORECASE)
_ZERO_WIDTH_SPACE = "\u200b"


class _MessagePart(Protocol):
    @property
    def block(self) -> bool: ...
    def text(self) -> str: ...
    def html(self) -> str: ...
    def chat(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A message that is ready to be sent."""

    text: str
    html: str
    chat: str
    """As a chat reads it that understands Slack's mrkdwn."""


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """The template of a message."""

    template: str

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a template that a report with these columns cannot render."""
        self.render(MessageData("", "", tuple(columns)))

    @property
    def needs_row_count(self) -> bool:
        """Whether the template needs the number of rows."""
        return any(found[1].strip() in {"rows", "table"} for found in _PLACEHOLDER.finditer(self.template))

    def render(self, data: MessageData) -> RenderedMessage:
        """Render the template with these rows."""
        if len(self.template) > _MAX_TEMPLATE_LENGTH:
            raise InvalidInputError(
                f"The message has {len(self.template):,} characters.", f"Use {_MAX_TEMPLATE_LENGTH:,} at most."
            )
        parts: list[_MessagePart] = []

        def marked(found: re.Match[str]) -> str:
            parts.append(_create_part(found[1].strip(), data))
            return f"{_OPEN}{len(parts) - 1}{_CLOSE}"

        plain = _PLACEHOLDER.sub(marked, self.template.replace(_OPEN, "").replace(_CLOSE, ""))
        chat = _CHAT_LINK.sub(_quote_in_links(parts), as_chat(plain))
        page = _HREF.sub(_quote_in_links(parts), as_html(plain))
        return RenderedMessage(
            _MARK.sub(_replace_marks(parts, lambda part: part.text()), plain),
            _MARK.sub(_replace_marks(parts, lambda part: part.html()), _LONE_MARK.sub(_replace_blocks(parts), page)),
            _MARK.sub(_replace_marks(parts, lambda part: part.chat()), chat),
        )


@dataclass(frozen=True, slots=True)
class _TextPart:
    value: str
    block = False

    def text(self) -> str:
        return self.value

    def html(self) -> str:
        return html.escape(self.value)

    def chat(self) -> str:
        """Escape the value, so that chats that read Markdown or mentions do not interpret it."""
        apart = self.value.replace("](", f"]{_ZERO_WIDTH_SPACE}(")
        return escape_chat(_MENTION.sub(f"@{_ZERO_WIDTH_SPACE}", apart))


def _create_part(placeholder: str, data: MessageData) -> _MessagePart:
    word, _, rest = placeholder.partition(" ")
    match word:
        case "rows" if not rest:
            return _TextPart(data.row_count_text())
        case "day" if not rest:
            return _TextPart(data.day)
        case "name" if not rest:
            return _TextPart(data.name)
        case "table" if not rest:
            return TableBlock(data)
        case "chart" if rest:
            return _create_chart(rest, data)
        case "column" if rest:
            return _TextPart(data.value(rest.strip()))
        case _:
            return _TextPart(data.value(placeholder))


def _create_chart(rest: str, data: MessageData) -> ChartBlock:
    try:
        names = shlex.split(rest)
    except ValueError:
        names = []
    if len(names) != 2:  # noqa: PLR2004 - what is drawn, and by what
        raise InvalidInputError(
            f"The chart {quote_text(rest)} cannot be drawn.", 'Name two columns: {{ chart day "sum of amount" }}.'
        )
    for name in names:
        data.column_index(name)
    return ChartBlock(data, *names)


def _replace_marks(
    parts: Sequence[_MessagePart], render: Callable[[_MessagePart], str]
) -> Callable[[re.Match[str]], str]:
    return lambda found: render(parts[int(found[1])])


def _replace_blocks(parts: Sequence[_MessagePart]) -> Callable[[re.Match[str]], str]:
    """Replace a paragraph that contains only a block: a table is no part of a paragraph."""
    return lambda found: parts[int(found[1])].html() if parts[int(found[1])].block else found[0]


def _quote_in_links(parts: Sequence[_MessagePart]) -> Callable[[re.Match[str]], str]:
    """Percent-encode values inside links."""
    return lambda link: _MARK.sub(_replace_marks(parts, lambda part: quote(part.text(), safe="")), link[0])
