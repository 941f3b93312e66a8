"""The message of a report: a template of Markdown in which `{{ … }}` stands for values, a table or a chart.

Values are inserted after the Markdown has become HTML or chat markup, so that nothing in them is read as a link, a tag
or a mention. Tables and charts are of the first rows.
"""

import html
import math
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import quote as quote_url

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats
from lakehold.lake.markdown import as_chat, as_html, escape_chat

MAX_BLOCK_ROWS = 20
"""So many rows are in a table or a chart."""
_MAX_CELL_LENGTH = 40


@dataclass(frozen=True, slots=True)
class MessageData:
    """The data of a message: the first rows of a report, and its number of rows."""

    name: str
    """The report's."""
    day: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]] = ()
    count: int = 0
    complete: bool = True
    """Whether the count is of all rows; else there are more."""

    def column_index(self, column: str) -> int:
        """Return the index of a column, or raise an error that lists the columns."""
        if column not in self.columns:
            there = ", ".join(self.columns[:MAX_BLOCK_ROWS]) or "none"
            raise InvalidInputError(
                f"The message uses a column {quote(column)}, which the report does not have.",
                f"Its columns: {there}. Beside them there are rows, day, name, table, and chart with two columns.",
            )
        return self.columns.index(column)

    def value(self, column: str) -> str:
        """Return a value of the first row, or an empty text if there is none."""
        index = self.column_index(column)
        return format_value(self.rows[0][index]) if self.rows else ""


def format_value(value: object) -> str:
    """Return a value as one line of text."""
    plain = row_formats.to_json_value(value)
    if plain is None:
        return ""
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def format_short(value: object) -> str:
    """Return a value as one line of text, cut if it would make a table too wide."""
    text = format_value(value)
    return text if len(text) <= _MAX_CELL_LENGTH else f"{text[: _MAX_CELL_LENGTH - 1]}…"


def is_numeric(value: object) -> bool:
    """Return whether a value is aligned to the right."""
    return not isinstance(value, bool) and hasattr(value, "__float__")


class _MessagePart(ABC):
    """The content that replaces a placeholder of a message."""

    block: ClassVar = True
    """Whether it is no part of a paragraph."""

    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def html(self) -> str: ...

    def chat(self) -> str:
        """Return the text as a code block of a chat; backticks inside are replaced."""
        return f"```\n{escape_chat(self.text()).replace('`', chr(39))}\n```"


_MAX_BLOCK_COLUMNS = 12
_TABLE_CELL_STYLE = "border:1px solid #ccc;padding:3px 8px"


@dataclass(frozen=True)
class TableBlock(_MessagePart):
    """A table of the first rows."""

    data: MessageData

    def text(self) -> str:
        """Return the table in columns of a fixed-width font."""
        if not self.data.rows:
            return "No rows."
        cells = [
            [format_short(name) for name in self._columns],
            *([format_short(value) for value in row] for row in self._rows),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = (
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, self._right_aligned, strict=True)
            ).rstrip()
            for row in cells
        )
        return "\n".join([*lines, *self._omitted()])

    def html(self) -> str:
        """Return the table as HTML for mail programs."""
        if not self.data.rows:
            return "<p>No rows.</p>"
        head = "".join(
            f'<th style="{_TABLE_CELL_STYLE}">{html.escape(format_short(name))}</th>' for name in self._columns
        )
        body = "".join(f"<tr>{self._html_cells(row)}</tr>" for row in self._rows)
        rest = "".join(f"<p>{line}</p>" for line in self._omitted())
        return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>{rest}'

    @cached_property
    def _columns(self) -> Sequence[str]:
        return self.data.columns[:_MAX_BLOCK_COLUMNS]

    @cached_property
    def _rows(self) -> list[Sequence[object]]:
        return [row[:_MAX_BLOCK_COLUMNS] for row in self.data.rows[:MAX_BLOCK_ROWS]]

    @cached_property
    def _right_aligned(self) -> list[bool]:
        return [any(is_numeric(row[place]) for row in self._rows) for place in range(len(self._columns))]

    def _html_cells(self, row: Sequence[object]) -> str:
        styles = [_TABLE_CELL_STYLE + (";text-align:right" if right else "") for right in self._right_aligned]
        cells = zip(styles, row, strict=True)
        return "".join(f'<td style="{style}">{html.escape(format_short(value))}</td>' for style, value in cells)

    def _omitted(self) -> list[str]:
        """Return a line about omitted rows and columns."""
        more = self.data.count - len(self._rows)
        columns = len(self.data.columns) - len(self._columns)
        said = [f"{more:,} more rows"] if more > 0 and self.data.complete else []
        said += ["more rows"] if not self.data.complete else []
        said += [f"{columns:,} more columns"] if columns else []
        return [f"… and {', '.join(said)}"] if said else []


_WIDTH = 24
_CHART_CELL_STYLE, _BAR_STYLE = "padding:2px 8px 2px 0", "height:12px;border-radius:2px;background:"
_POSITIVE_COLOR, _NEGATIVE_COLOR = "#2f6fde", "#c0392b"


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    number: str
    part: float
    """Of the longest; below nothing if the number is."""


@dataclass(frozen=True)
class ChartBlock(_MessagePart):
    """A bar chart of one column by another."""

    data: MessageData
    x: str
    y: str

    def text(self) -> str:
        """Return the chart in block characters; negative bars are lighter."""
        bars = list(self._bars())
        if not bars:
            return "No rows."
        width = max(len(bar.label) for bar in bars)
        return "\n".join(f"{bar.label.ljust(width)}  {_text_bar(bar.part)} {bar.number}".rstrip() for bar in bars)

    def html(self) -> str:
        """Return the chart as an HTML table with coloured cells."""
        rows = "".join(
            f'<tr><td style="{_CHART_CELL_STYLE}">{html.escape(bar.label)}</td>'
            f'<td style="width:200px"><div style="{_BAR_STYLE}'
            f'{_POSITIVE_COLOR if bar.part >= 0 else _NEGATIVE_COLOR};width:{abs(bar.part):.0%}"></div></td>'
            f'<td style="text-align:right;padding-left:8px">{html.escape(bar.number)}</td></tr>'
            for bar in self._bars()
        )
        return f'<table style="border-collapse:collapse">{rows}</table>' if rows else "<p>No rows.</p>"

    def _bars(self) -> Iterator[_Bar]:
        x, y = self.data.column_index(self.x), self.data.column_index(self.y)
        some = self.data.rows[:MAX_BLOCK_ROWS]
        numbers = [self._number(row[y]) for row in some]
        longest = max((abs(number) for number in numbers), default=0) or 1
        for row, number in zip(some, numbers, strict=True):
            yield _Bar(format_short(row[x]), format_short(row[y]), number / longest)

    def _number(self, value: object) -> float:
        if value is None:
            return 0.0
        if not is_numeric(value):
            raise InvalidInputError(
                f"The chart of the message cannot draw {quote(self.y)}: it is not a number.", "Choose another column."
            )
        number = float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else 0.0


def _text_bar(part: float) -> str:
    halves = round(abs(part) * _WIDTH * 2)
    if part < 0:
        return "░" * max(1, halves // 2)
    return "█" * (halves // 2) + "▌" * (halves % 2)


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

        def alone(found: re.Match[str]) -> str:
            # A paragraph that contains only a block is replaced: a table is no part of a paragraph.
            part = parts[int(found[1])]
            return part.html() if part.block else found[0]

        plain = _PLACEHOLDER.sub(marked, self.template.replace(_OPEN, "").replace(_CLOSE, ""))
        chat = _CHAT_LINK.sub(_quote_in_links(parts), as_chat(plain))
        page = _HREF.sub(_quote_in_links(parts), as_html(plain))
        return RenderedMessage(
            _MARK.sub(_replace_marks(parts, lambda part: part.text()), plain),
            _MARK.sub(_replace_marks(parts, lambda part: part.html()), _LONE_MARK.sub(alone, page)),
            _MARK.sub(_replace_marks(parts, lambda part: part.chat()), chat),
        )


@dataclass(frozen=True, slots=True)
class _TextPart(_MessagePart):
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
            return _TextPart(f"{data.count:,}" if data.complete else f"more than {data.count:,}")
        case "day" | "name" if not rest:
            return _TextPart(data.day if word == "day" else data.name)
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
            f"The chart {quote(rest)} cannot be drawn.", 'Name two columns: {{ chart day "sum of amount" }}.'
        )
    for name in names:
        data.column_index(name)
    return ChartBlock(data, *names)


def _replace_marks(
    parts: Sequence[_MessagePart], render: Callable[[_MessagePart], str]
) -> Callable[[re.Match[str]], str]:
    return lambda found: render(parts[int(found[1])])


def _quote_in_links(parts: Sequence[_MessagePart]) -> Callable[[re.Match[str]], str]:
    """Percent-encode values inside links."""
    return lambda link: _MARK.sub(_replace_marks(parts, lambda part: quote_url(part.text(), safe="")), link[0])
