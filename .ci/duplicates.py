"""Fails when two places of src share more than 15 lines of the same shape.

The measure: a line's shape is its tokens, with every name that is no keyword, every string and every number replaced by
a placeholder. Blank lines, comments, docstrings, imports and lines of data (no keyword, assignment or call) do not
count. Two places share a run if so many counted lines in a row have the same shapes.
"""

from __future__ import annotations

import io
import keyword
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

MOST = 15
SOURCE = Path(__file__).parent.parent / "src"
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Line = tuple[str, int]
Place = tuple[Path, int]


def shapes(file: Path) -> list[Line]:
    """Return the counted lines of a file: the shape and the number of each."""
    found: dict[int, list[str]] = defaultdict(list)
    first_of_statement, previous = True, tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
        if token.type in SKIPPED:
            first_of_statement = first_of_statement or token.type == tokenize.NEWLINE
            previous = token.type
            continue
        if token.type == tokenize.STRING and first_of_statement and previous != tokenize.OP:
            found[token.start[0]].append("docstring")
        else:
            found[token.start[0]].append(_shape(token))
        first_of_statement, previous = False, token.type
    return [(" ".join(parts), number) for number, parts in sorted(found.items()) if _counts(parts)]


def _shape(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return token.string if keyword.iskeyword(token.string) else "name"
    return {tokenize.STRING: "text", tokenize.NUMBER: "number"}.get(token.type, token.string)


def _counts(parts: list[str]) -> bool:
    """Whether a line does something: data in lists and tables may well look alike."""
    does = any(keyword.iskeyword(part) or part == "=" for part in parts) or ("name", "(") in pairwise(parts)
    return does and parts[0] not in {"from", "import", "docstring"}


def shared_runs(files: list[Path]) -> Iterator[tuple[Place, Place]]:
    """Yield the pairs of places that share a run which is too long, each pair once."""
    places: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for file in files:
        lines = shapes(file)
        for start in range(len(lines) - MOST):
            run = lines[start : start + MOST + 1]
            places[tuple(shape for shape, _ in run)].append((file, run[0][1]))
    for found in places.values():
        for (one, first), (other, second) in pairwise(found):
            if one != other or abs(first - second) > MOST:
                yield (one, first), (other, second)


def main() -> None:
    """Print the pairs, and exit with 1 if there are any."""
    found = list(shared_runs(sorted(SOURCE.rglob("*.py"))))
    for (one, first), (other, second) in found:
        print(f"{one.relative_to(SOURCE)}:{first} ~ {other.relative_to(SOURCE)}:{second}")  # noqa: T201
    if found:
        sys.exit(f"{len(found)} runs of more than {MOST} lines have the same shape: let one piece of code serve both.")


if __name__ == "__main__":
    main()
