"""Converts the Markdown of mails and messages to plain HTML and to Slack's mrkdwn.

Supported are headings, lists, paragraphs, **bold**, *italic*, `code` and links. Everything else stays as it was
written, and none of it becomes HTML of its own.
"""

import html
import re
from collections.abc import Iterator

_HEADING = re.compile(r"(#{1,6})\s+(.+)")
_BULLET = re.compile(r"\s*[-*+]\s+(.*)")
_NUMBER = re.compile(r"\s*\d{1,9}[.)]\s+(.*)")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\[\]]+)\]\(((?:https?://|mailto:)[^\s()<>\"]+)\)")
_BOLD = re.compile(r"\*\*(?=\S)([^*]+)(?<=\S)\*\*")
_ITALIC = re.compile(r"(?<![*\w])\*(?=\S)([^*]+)(?<=\S)\*(?![*\w])")


def as_html(text: str) -> str:
    """Return the text as a whole HTML page."""
    blocks = "\n".join(_block(lines) for lines in _blocks(text))
    return f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n{blocks}\n</body></html>\n'


def as_chat(text: str) -> str:
    """Return the text as Slack's mrkdwn. Mentions and bare links in it are escaped."""
    return "\n".join(_chat_line(line) for line in text.splitlines())


def escape_chat(text: str) -> str:
    """Escape a text so that a chat shows it literally."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _chat_line(line: str) -> str:
    heading = _HEADING.fullmatch(line.strip())
    if heading:
        return f"*{_LINK.sub(_chat_link, escape_chat(_title(heading)).replace('*', ''))}*"
    bullet = _BULLET.fullmatch(line)
    words = f"• {bullet[1]}" if bullet else line
    parts = _CODE.split(words)
    return "".join(f"`{escape_chat(part)}`" if number % 2 else _style_chat(part) for number, part in enumerate(parts))


def _title(heading: re.Match[str]) -> str:
    """Return the text of a heading, without the signs that may close it."""
    return heading[2].rstrip("#").rstrip() or heading[2]


def _style_chat(text: str) -> str:
    italic = _ITALIC.sub(r"_\1_", escape_chat(text))
    return _LINK.sub(_chat_link, _BOLD.sub(r"*\1*", italic))


def _chat_link(found: re.Match[str]) -> str:
    return f"<{found[2]}|{found[1]}>"


def _blocks(text: str) -> Iterator[list[str]]:
    """Split the text into blocks: lines between empty ones, and each heading by itself."""
    here: list[str] = []
    for line in [*text.splitlines(), ""]:
        heading = _HEADING.fullmatch(line.strip())
        if here and (heading or not line.strip() or _kind(line) != _kind(here[0])):
            yield here
            here = []
        if heading:
            yield [line.strip()]
        elif line.strip():
            here.append(line)


def _kind(line: str) -> str:
    if _BULLET.fullmatch(line):
        return "ul"
    return "ol" if _NUMBER.fullmatch(line) else "p"


def _block(lines: list[str]) -> str:
    heading = _HEADING.fullmatch(lines[0])
    if heading:
        level = len(heading[1])
        return f"<h{level}>{_inline(_title(heading))}</h{level}>"
    kind = _kind(lines[0])
    if kind == "p":
        return f"<p>{'<br>'.join(_inline(line.strip()) for line in lines)}</p>"
    pattern = _BULLET if kind == "ul" else _NUMBER
    items = (_inline(found[1]) for line in lines if (found := pattern.fullmatch(line)))
    return f"<{kind}>{''.join(f'<li>{item}</li>' for item in items)}</{kind}>"


def _inline(text: str) -> str:
    """Convert the markup inside a line. Code between backticks is left unchanged."""
    parts = _CODE.split(text)
    return "".join(
        f"<code>{html.escape(part)}</code>" if number % 2 else _style_html(part) for number, part in enumerate(parts)
    )


def _style_html(text: str) -> str:
    parts = _LINK.split(text)
    parts_html = []
    for number in range(0, len(parts), 3):
        parts_html.append(_ITALIC.sub(r"<em>\1</em>", _BOLD.sub(r"<strong>\1</strong>", html.escape(parts[number]))))
        if number + 2 < len(parts):
            parts_html.append(f'<a href="{html.escape(parts[number + 2])}">{html.escape(parts[number + 1])}</a>')
    return "".join(parts_html)
