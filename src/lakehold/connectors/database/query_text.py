"""Queries in the SQL of a database, put in parentheses that they cannot leave.

Texts, quoted names and comments are told apart as the product does it. What products read differently, or what only
serves to hide something, is refused.
"""

import re
from functools import cache

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

_MAX_LENGTH, _MAX_DEPTH = 100_000, 200
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BACKSLASH = re.compile(r"\\['\"]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# PostgreSQL takes every letter beyond ASCII, and signs there too, for a part of a name.
_LETTER, _NAME = r"A-Za-z_\x80-\U0010ffff", r"A-Za-z0-9_\x80-\U0010ffff"
_DOLLARS = rf"\$(?P<tag>(?:[{_LETTER}][{_NAME}]*)?)\$"
_Q_QUOTE = r"(?<![\w$])[nN]?[qQ]'"
_LINE_COMMENT = r"(?P<line>--[^\n]*)"
_OWN = {
    "postgresql": rf"(?P<escaped>(?<![{_NAME}$])[eE]'(?:[^'\\]|\\.|'')*+')"
    rf"|(?P<dollars>(?<![{_NAME}$]){_DOLLARS}.*?\$(?P=tag)\$)|(?P<special>\$(?:[{_LETTER}][{_NAME}]*)?\$)|{_LINE_COMMENT}",
    # Two dashes without a space are two minus signs there.
    **dict.fromkeys(("mysql", "mariadb"), r"(?P<special>/\*M?!)|(?P<line>#[^\n]*|--(?:[ \t][^\n]*|(?=\n)|\Z))"),
    **dict.fromkeys(("sqlserver", "sqlite"), rf"(?P<name>\[(?:[^\]]|\]\])*+\])|{_LINE_COMMENT}"),
    "oracle": rf"(?P<special>{_Q_QUOTE})|{_LINE_COMMENT}",
}
# Of a product that is not known here, all that some other product reads in its own way.
_UNKNOWN = (
    rf"(?P<special>#|\$[{_NAME}]*\$|{_Q_QUOTE}|\[[^\]'\"`]*['\"`]|/\*M?!|(?<![\w$])[eE]'|--(?![ \n]))|{_LINE_COMMENT}"
)
_COMMON = (
    r"(?P<text>'(?:[^']|'')*+')"
    r'|(?P<quoted>"(?:[^"]|"")*+")'
    # Only some products quote names by it: it must not hide anything from the others.
    r"|(?P<backtick>`[^`'\"()\[\]{}/#-]*`)"
    r"|(?P<block>/\*.*?\*/)"
    r"|(?P<bracket>[()\[\]{}])"
    r"|(?P<open>['\"`]|/\*)"
)


def parenthesize(text: str, product: str) -> str:
    """Return a query in parentheses, or refuse one that would end them or has more than one statement."""
    # A line ends alike for us and for the database.
    query = text.replace("\r\n", "\n").replace("\r", "\n").strip().rstrip("; \n\t")
    if len(query) > _MAX_LENGTH:
        raise InvalidInputError(f"The query has more than {_MAX_LENGTH:,} characters.", "Shorten it.")
    if found := _CONTROL.search(query):
        raise InvalidInputError(f"The query has {quote(found[0])} in it.", "Leave out control characters.")
    if ";" in query:
        raise InvalidInputError("The query has a semicolon in it.", "Write one query; in a text, use chr(59).")
    expected: list[str] = []
    for token in _tokens(product).finditer(query):
        _check_token(token, expected)
    if expected:
        raise _unbalanced(f"There is no {expected[-1]!r} for the last one that is open")
    return f"({query}\n)"


@cache
def _tokens(product: str) -> re.Pattern[str]:
    return re.compile(f"{_OWN.get(product, _UNKNOWN)}|{_COMMON}", re.DOTALL)


def _check_token(found: re.Match[str], expected: list[str]) -> None:
    token = found[0]
    match found.lastgroup:
        case "bracket" if token in _CLOSING:
            expected.append(_CLOSING[token])
            if len(expected) > _MAX_DEPTH:
                raise InvalidInputError(f"The query is more than {_MAX_DEPTH} parentheses deep.", "Simplify it.")
        case "bracket":
            if not expected or expected.pop() != token:
                raise _unbalanced(f"A {token!r} closes nothing")
        case "open":
            raise _unbalanced(f"What begins with {quote(token)} has no end")
        case "special":
            raise InvalidInputError(f"The query has {quote(token)} in it.", "Write it without.")
        case "block" if "/*" in token[2:]:
            raise InvalidInputError("A comment in the query has another one in it.", "Write it without.")
        case "text" | "quoted" if _BACKSLASH.search(token):
            hint = "Write a quote within a text as two."
            raise InvalidInputError("The query has a backslash before a quote, which databases read differently.", hint)


def _unbalanced(what: str) -> InvalidInputError:
    return InvalidInputError(f"The query is not whole. {what}.", "Check its parentheses, quotes and comments.")
