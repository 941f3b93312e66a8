"""Bounds what the text of a query makes Spark's parser do, before the parser sees it.

Its lexer and parser look ahead through whatever is open, so that their time grows with the square of the depth and
more: 800 comments in one another take a minute, 2,000 brackets as long. And CUBE in GROUPING SETS is multiplied out
while parsing. What is in CASE, FILTER and TRIM stands twice in a plan as JSON, so that each in another one doubles it;
and the value of `CASE value WHEN …` is there once for each WHEN. What is counted are brackets, types, CASE, lambdas and
comments that are open at one place, and the columns of cubes; texts, quoted names and comments are skipped as Spark
skips them. This protects time, not data: a text that fools it meets the time limit of the analysis. Depth without
brackets, of operators and joins, costs no such time: 200,000 characters of them end in an error of the parser's own,
about its stack, in a second or a few.
"""

import re
from dataclasses import dataclass

from lakehold.lake.errors import RefusedQueryError

MAX_DEPTH = 100
MAX_CUBE_SETS = 4_096
"""Of all cubes together: as many sets as one with twelve columns has."""
MAX_REPEATING = 12
"""CASE, FILTER and TRIM in one another."""
MAX_VALUE = 1_000_000
"""Characters of the value of a CASE, counted once for each WHEN."""

# A quote that is never closed ends the count: the parser goes no further either.
_TOKEN = re.compile(
    r"""
    (?<!\w) r '[^']*(?:'|\Z) | (?<!\w) r "[^"]*(?:"|\Z)
    | '[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z) | "[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z) | `[^`]*(?:`|\Z)
    | --(?:\\\n|[^\r\n])*
    | (?P<comment>/\*(?!\+))
    | (?P<word>(?<![\w.])(?:array|case|cube|end|filter|map|struct|trim|when)(?!\w))
    | (?P<sign>->|[()\[\]<>,])
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*(?!\+)|\*/")
_CLOSED_BY = {")": "(", "]": "[", ">": "<", "END": "CASE"}
_BRACKETS = frozenset("([")
_TYPES = frozenset({"ARRAY", "MAP", "STRUCT"})
_REPEATING = frozenset({"FILTER", "TRIM"})


def refuse_text(text: str) -> None:
    """Refuse a text in which too much is open at one place, or too much is multiplied out."""
    bounds, at = _TextBounds(text), 0
    while found := _TOKEN.search(text, at):
        at = found.end()
        if found["comment"]:
            at = _end_of_comment(text, at)
            bounds.skip(found.start(), at)
        elif found["word"]:
            bounds.take_word(found["word"].upper(), found.start(), at)
        elif found["sign"]:
            bounds.take_sign(found["sign"], found.start())


@dataclass(slots=True)
class _RepeatingPart:
    """A CASE, FILTER or TRIM that is open, and how deep it is."""

    depth: int
    start: int = -1
    """Where the value of a CASE begins; -1 once it has ended, and for the others."""
    length: int = 0
    """Of the value."""
    whens: int = 0


class _TextBounds:
    """The brackets and CASEs that are open at a place of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[str] = []
        self._word, self._word_end = "", 0
        self._cubes: list[tuple[int, int]] = []
        """Of each open cube: how deep it is, and its columns so far."""
        self._sets = 0
        self._repeating: list[_RepeatingPart] = []

    def skip(self, start: int, end: int) -> None:
        """Skip a comment. What stood before it still precedes what comes after it."""
        if self._word_at(start):
            self._word_end = end

    def take_word(self, word: str, start: int, end: int) -> None:
        """Count CASE and its WHENs, and remember what a bracket may follow."""
        match word:
            case "CASE":
                self._push(word)
                self._count_repeating(end)
            case "WHEN":
                self._count_when(start)
            case "END":
                self._close(word)
            case _:
                self._word, self._word_end = word, end

    def take_sign(self, sign: str, start: int) -> None:
        """Count brackets and lambdas."""
        word = self._word_at(start)
        self._word = ""
        if sign == ",":
            self._close(sign)
            self._count_column()
        elif sign in (")", "]", ">"):
            self._close(sign)
        elif sign != "<" or word in _TYPES:
            self._push(sign)
            if sign == "(" and word in _REPEATING:
                self._count_repeating()
            if sign == "(" and word == "CUBE":
                self._cubes.append((len(self._open), 0))
                self._count_column()

    def _word_at(self, start: int) -> str:
        """Return the word that stands right before a place."""
        return self._word if self._word and not self._text[self._word_end : start].strip() else ""

    def _push(self, kind: str) -> None:
        self._open.append(kind)
        _refuse_depth(len(self._open))

    def _close(self, closed: str) -> None:
        """Drop what this closes, and what cannot outlive it: CASE and lambdas end with their bracket or a comma."""
        kept = {",": _BRACKETS | {"<"}, ")": _BRACKETS, "]": _BRACKETS}.get(closed)
        while kept and self._open and self._open[-1] not in kept:
            self._open.pop()
        if self._open and self._open[-1] == _CLOSED_BY.get(closed):
            self._open.pop()
        while self._cubes and self._cubes[-1][0] > len(self._open):
            self._cubes.pop()
        while self._repeating and self._repeating[-1].depth > len(self._open):
            self._repeating.pop()

    def _count_repeating(self, start: int = -1) -> None:
        """Count what doubles all that is in it. In the value of a CASE it would be multiplied by more."""
        if len(self._repeating) == MAX_REPEATING or any(each.start >= 0 for each in self._repeating):
            raise RefusedQueryError(
                f"The query has more than {MAX_REPEATING} CASE, FILTER or TRIM in one another, or one in the value of a"
                " CASE.",
                "Write one CASE with several WHEN, or break the query into parts: WITH … AS (…).",
            )
        self._repeating.append(_RepeatingPart(len(self._open), start))

    def _count_when(self, start: int) -> None:
        """Count the value of a CASE once more."""
        here = self._repeating[-1] if self._repeating else None
        if here is None or self._open[-1:] != ["CASE"] or here.depth != len(self._open):
            return
        if here.start >= 0:
            here.length, here.start = len(self._text[here.start : start].strip()), -1
        here.whens += 1
        if here.length * here.whens > MAX_VALUE:
            raise RefusedQueryError(
                "The value of a CASE is too long for so many WHEN.", "Give it a name: WITH … AS (SELECT …)."
            )

    def _count_column(self) -> None:
        """Count a column of the innermost cube: each doubles its sets."""
        if self._cubes and self._cubes[-1][0] == len(self._open):
            depth, columns = self._cubes.pop()
            self._cubes.append((depth, columns + 1))
            self._sets += 1 << columns
            if self._sets > MAX_CUBE_SETS:
                raise RefusedQueryError(
                    f"CUBE makes more than {MAX_CUBE_SETS:,} sets of columns.", "Name the sets: GROUPING SETS (…)."
                )


def _end_of_comment(text: str, at: int) -> int:
    """Return where a comment ends, with those in it."""
    depth = 1
    while depth and (found := _COMMENT.search(text, at)):
        at = found.end()
        depth += 1 if found[0] == "/*" else -1
        _refuse_depth(depth)
    return len(text) if depth else at


def _refuse_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RefusedQueryError(
            f"The query is nested more than {MAX_DEPTH} levels deep.", "Break it into parts: WITH … AS (…)."
        )
