"""Writes YAML that people like to read: short things on one line, long ones on several, no quotes where none are
needed, and a name in a comment beside an id that says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import yaml

WIDTH = 100
_MOST_IN_LINE = 4
_SAFE = re.compile(r"[^\W_][\w .@&/()+'-]*(?<! )|/[\w./@-]*|\.[a-z][a-z0-9_]*|_[\w.@-]*")
_RESOLVER = yaml.SafeLoader("")
_TEXT = "tag:yaml.org,2002:str"
_NUMBER = re.compile(r"[-+]?\.?\d[\d_.]*(?:[eE][-+]?\d+)?")


class Leaf(NamedTuple):
    """A value as it stands in the file, a remark for its reader, and for a text of many lines the lines."""

    text: str
    remark: str = ""
    lines: tuple[str, ...] = ()


Tree = Leaf | Sequence["Tree"] | Mapping[str, "Tree"]


@lru_cache(maxsize=10_000)
def quoted(text: str) -> str:
    """The text, in quotes if a reader of YAML could take it for something else."""
    if _SAFE.fullmatch(text) and not _NUMBER.fullmatch(text) and _is_text(text):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _is_text(text: str) -> bool:
    found: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call] # no stubs
    return found == _TEXT


def paragraphs(text: str) -> Leaf:
    """A text of several lines as lines, if nothing in it gets lost by that."""
    body = text.removesuffix("\n")
    lines = tuple(body.split("\n"))
    if len(lines) == 1 or not lines[0] or lines[0][0] == " " or not lines[-1] or not all(map(str.isprintable, lines)):
        return Leaf(quoted(text))
    return Leaf("|" if body != text else "|-", lines=lines)


def flow(value: object) -> str:
    """Anything that JSON can hold, on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{quoted(str(key))}: {flow(part)}' for key, part in sorted(value.items()))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value)


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"  # noqa: PLR2004 - four digits


def document(tree: Mapping[str, Tree]) -> str:
    """A whole file. Its sections stand apart."""
    return "\n".join("\n".join(_entry(name, value, 0)) + "\n" for name, value in tree.items())


def _entry(name: str, value: Tree, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}{quoted(name)}:"
    short = _in_line(value) if depth else None
    if isinstance(value, Leaf):
        yield f"{start} {value.text}{_remark(value)}"
        yield from (f"{'  ' * (depth + 1)}{line}" if line else "" for line in value.lines)
    elif short is not None and len(start) + 1 + len(short) <= WIDTH:
        yield f"{start} {short}"
    elif isinstance(value, Mapping):
        yield start if value else f"{start} {{}}"
        for key, part in value.items():
            yield from _entry(key, part, depth + 1)
    else:
        yield start
        yield from (f"{'  ' * (depth + 1)}- {_item(part)}" for part in value)


def _in_line(value: Tree) -> str | None:
    """The value on one line; None if it is too much for that."""
    if isinstance(value, Leaf):
        return None if value.remark or value.lines else value.text
    if isinstance(value, Mapping):
        parts = {key: _in_line(part) for key, part in value.items()}
        if len(parts) > _MOST_IN_LINE or any(isinstance(part, Mapping) for part in value.values()):
            return None
        return None if None in parts.values() else f"{{{', '.join(f'{quoted(k)}: {v}' for k, v in parts.items())}}}"
    items = [_in_line(part) for part in value]
    return None if None in items else f"[{', '.join(map(str, items))}]"


def _item(value: Tree) -> str:
    """An entry of a list: always on one line, with its remark behind it."""
    if isinstance(value, Leaf):
        return f"{value.text}{_remark(value)}"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{quoted(key)}: {part.text}" for key, part in value.items() if isinstance(part, Leaf))
        remarks = [part.remark for part in value.values() if isinstance(part, Leaf) and part.remark]
        return f"{{{inside}}}{_remark(Leaf('', ', '.join(remarks)))}"
    return str(_in_line(value))


def _remark(leaf: Leaf) -> str:
    return f"  # {leaf.remark}" if leaf.remark else ""
