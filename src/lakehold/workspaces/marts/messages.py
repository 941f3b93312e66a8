"""The message of a report: a template of Markdown in which `{{ … }}` stands for values, a table or a chart.

Values are inserted after the Markdown has become HTML or chat markup, so that nothing in them is read as a link, a tag
or a mention. Tables and charts are of the first rows.
"""

import html
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote as quote_url

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import row_formats
from lakehold.lake.markdown import as_chat, as_html, escape_chat

MAX_BLOCK_ROWS = 20
"""The most rows of a table or a chart."""
_MAX_CELL_LENGTH = 40
_MENTION = re.compile(r"@(?=(?:channel|here|everyone|all)\b)", re.IGNORECASE)
_ZERO_WIDTH_SPACE = "\u200b"


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
    labels: tuple[str, ...] = ()
    """What people call the columns, if not by their names."""

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


class _MessagePart(NamedTuple):
    """The content that replaces a placeholder of a message, in each format."""

    text: str
    html: str
    chat: str
    is_block: bool = False
    """Whether it is no part of a paragraph."""


def _text_part(value: str) -> _MessagePart:
    """Return a value, escaped so that chats that read Markdown or mentions do not interpret it."""
    apart = value.replace("](", f"]{_ZERO_WIDTH_SPACE}(")
    return _MessagePart(value, html.escape(value), escape_chat(_MENTION.sub(f"@{_ZERO_WIDTH_SPACE}", apart)))


def _block_part(text: str, page: str) -> _MessagePart:
    """Return a block, which is a code block in a chat; backticks inside are replaced."""
    return _MessagePart(text, page, f"```\n{escape_chat(text).replace('`', chr(39))}\n```", is_block=True)


_NO_ROWS = _block_part("No rows.", "<p>No rows.</p>")
_MAX_BLOCK_COLUMNS = 12
_TABLE_CELL_STYLE = "border:1px solid #ccc;padding:3px 8px"


def _table_part(data: MessageData) -> _MessagePart:
    """Return a table of the first rows: in columns of a fixed-width font, and as HTML for mail programs."""
    if not data.rows:
        return _NO_ROWS
    columns = (data.labels or data.columns)[:_MAX_BLOCK_COLUMNS]
    rows = [row[:_MAX_BLOCK_COLUMNS] for row in data.rows[:MAX_BLOCK_ROWS]]
    cells = [[format_short(value) for value in row] for row in (columns, *rows)]
    right = [any(map(is_numeric, column)) for column in zip(*rows, strict=True)]
    omitted = _omitted(data, len(rows), len(columns))
    page = _html_table(cells, right) + "".join(f"<p>{line}</p>" for line in omitted)
    return _block_part("\n".join([*_text_lines(cells, right), *omitted]), page)


def _text_lines(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        aligned = zip(row, widths, right, strict=True)
        yield "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in aligned
        ).rstrip()


def _html_table(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    names, *rows = ([html.escape(cell) for cell in row] for row in cells)
    head = "".join(f'<th style="{_TABLE_CELL_STYLE}">{name}</th>' for name in names)
    styles = [_TABLE_CELL_STYLE + (";text-align:right" if is_right else "") for is_right in right]
    lines = (
        "".join(f'<td style="{style}">{cell}</td>' for style, cell in zip(styles, row, strict=True)) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def _omitted(data: MessageData, rows: int, columns: int) -> list[str]:
    """Return a line about omitted rows and columns."""
    more_rows, more_columns = data.count - rows, len(data.columns) - columns
    said = [f"{more_rows:,} more rows"] if more_rows > 0 and data.complete else []
    said += ["more rows"] if not data.complete else []
    said += [f"{more_columns:,} more columns"] if more_columns else []
    return [f"… and {', '.join(said)}"] if said else []


_WIDTH = 24
_CHART_CELL_STYLE, _BAR_STYLE = "padding:2px 8px 2px 0", "height:12px;border-radius:2px;background:"
_POSITIVE_COLOR, _NEGATIVE_COLOR = "#2f6fde", "#c0392b"


def _chart_part(data: MessageData, x: str, y: str) -> _MessagePart:
    """Return a bar chart of one column by another: in block characters, and as an HTML table with coloured cells."""
    x_index, y_index = data.column_index(x), data.column_index(y)
    some = data.rows[:MAX_BLOCK_ROWS]
    if not some:
        return _NO_ROWS
    numbers = [_chart_number(row[y_index], y) for row in some]
    longest = max(map(abs, numbers)) or 1
    bars = [
        (format_short(row[x_index]), number / longest, format_short(row[y_index]))
        for row, number in zip(some, numbers, strict=True)
    ]
    width = max(len(label) for label, _, _ in bars)
    lines = (f"{label.ljust(width)}  {_text_bar(part)} {number}".rstrip() for label, part, number in bars)
    rows = "".join(
        f'<tr><td style="{_CHART_CELL_STYLE}">{html.escape(label)}</td>'
        f'<td style="width:200px"><div style="{_BAR_STYLE}'
        f'{_POSITIVE_COLOR if part >= 0 else _NEGATIVE_COLOR};width:{abs(part):.0%}"></div></td>'
        f'<td style="text-align:right;padding-left:8px">{html.escape(number)}</td></tr>'
        for label, part, number in bars
    )
    return _block_part("\n".join(lines), f'<table style="border-collapse:collapse">{rows}</table>')


def _chart_number(value: object, column: str) -> float:
    if value is None:
        return 0.0
    if not is_numeric(value):
        raise InvalidInputError(
            f"The chart of the message cannot draw {quote(column)}: it is not a number.", "Choose another column."
        )
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else 0.0


def _text_bar(part: float) -> str:
    """Return a bar in block characters; a negative one is lighter."""
    halves = round(abs(part) * _WIDTH * 2)
    if part < 0:
        return "░" * max(1, halves // 2)
    return "█" * (halves // 2) + "▌" * (halves % 2)


DEFAULT_TEMPLATE = "**{{ name }}**: {{ rows }} rows\n\n{{ table }}"
"""The template of a report that has no message of its own."""
_MAX_TEMPLATE_LENGTH = 20_000
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
# Letters that nobody writes: they stand for a value while Markdown is read.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_LONE_MARK = re.compile(rf"<p>{_OPEN}(\d+){_CLOSE}</p>")
_HREF = re.compile(r'href="[^"]*"')
_CHAT_LINK = re.compile(r"<(?:https?://|mailto:)[^|<>]*\|")


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A message that is ready to be sent."""

    text: str
    html: str
    chat: str
    """In Slack's mrkdwn, which other chats read too."""


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """The template of a message."""

    template: str

    def check(self, columns: Iterable[str]) -> None:
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
            return part.html if part.is_block else found[0]

        def quoted(link: re.Match[str]) -> str:
            return _fill_marks(link[0], [quote_url(part.text, safe="") for part in parts])

        plain = _PLACEHOLDER.sub(marked, self.template.replace(_OPEN, "").replace(_CLOSE, ""))
        page = _LONE_MARK.sub(alone, _HREF.sub(quoted, as_html(plain)))
        return RenderedMessage(
            _fill_marks(plain, [part.text for part in parts]),
            _fill_marks(page, [part.html for part in parts]),
            _fill_marks(_CHAT_LINK.sub(quoted, as_chat(plain)), [part.chat for part in parts]),
        )


def _create_part(placeholder: str, data: MessageData) -> _MessagePart:
    word, _, rest = placeholder.partition(" ")
    match word:
        case "rows" if not rest:
            return _text_part(f"{data.count:,}" if data.complete else f"more than {data.count:,}")
        case "day" | "name" if not rest:
            return _text_part(data.day if word == "day" else data.name)
        case "table" if not rest:
            return _table_part(data)
        case "chart" if rest:
            return _create_chart(rest, data)
        case "column" if rest:
            return _text_part(data.value(rest.strip()))
        case _:
            return _text_part(data.value(placeholder))


def _create_chart(rest: str, data: MessageData) -> _MessagePart:
    try:
        names = shlex.split(rest)
    except ValueError:
        names = []
    if len(names) != 2:  # noqa: PLR2004 - what is drawn, and by what
        raise InvalidInputError(
            f"The chart {quote(rest)} cannot be drawn.", 'Name two columns: {{ chart day "sum of amount" }}.'
        )
    return _chart_part(data, *names)


def _fill_marks(text: str, values: Sequence[str]) -> str:
    return _MARK.sub(lambda found: values[int(found[1])], text)
