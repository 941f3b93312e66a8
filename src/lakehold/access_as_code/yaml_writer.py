"""Writes YAML for people: short values on one line, no needless quotes, and names in comments beside opaque ids."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import yaml

MAX_WIDTH = 100
_MAX_INLINE = 4
_PLAIN_SCALAR = re.compile(r"[^\W_][\w .@&/()+'-]*(?<! )|/[\w./@-]*|\.[a-z][a-z0-9_]*|_[\w.@-]*")
_RESOLVER = yaml.SafeLoader("")
_TEXT = "tag:yaml.org,2002:str"
_NUMBER = re.compile(r"[-+]?\.?\d[\d_.]*(?:[eE][-+]?\d+)?")


class YamlLeaf(NamedTuple):
    """A scalar as it stands in the file, with a comment, and the lines of a block scalar."""

    text: str
    remark: str = ""
    lines: tuple[str, ...] = ()


YamlTree = YamlLeaf | Sequence["YamlTree"] | Mapping[str, "YamlTree"]


@lru_cache(maxsize=10_000)
def quote_scalar(text: str) -> str:
    """Return the text, in quotes if YAML could read it as something else."""
    if _PLAIN_SCALAR.fullmatch(text) and not _NUMBER.fullmatch(text) and _is_text(text):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _is_text(text: str) -> bool:
    found: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call] # no stubs
    return found == _TEXT


def block_scalar(text: str) -> YamlLeaf:
    """Return a text of several lines as a block scalar, if that loses nothing."""
    body = text.removesuffix("\n")
    lines = tuple(body.split("\n"))
    if len(lines) == 1 or not lines[0] or lines[0][0] == " " or not lines[-1] or not all(map(str.isprintable, lines)):
        return YamlLeaf(quote_scalar(text))
    return YamlLeaf("|" if body != text else "|-", lines=lines)


def flow_value(value: object) -> str:
    """Return any JSON value on one line."""
    if isinstance(value, Mapping):
        return (
            f"{{{', '.join(f'{quote_scalar(str(key))}: {flow_value(part)}' for key, part in sorted(value.items()))}}}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow_value, value))}]"
    if isinstance(value, str):
        return quote_scalar(value)
    return json.dumps(value)


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"  # noqa: PLR2004 - four digits


def render_document(tree: Mapping[str, YamlTree]) -> str:
    """Return the text of a file, with blank lines between its sections."""
    return "\n".join("\n".join(_entry(name, value, 0)) + "\n" for name, value in tree.items())


def _entry(name: str, value: YamlTree, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}{quote_scalar(name)}:"
    short = _inline(value) if depth else None
    if isinstance(value, YamlLeaf):
        yield f"{start} {value.text}{_remark(value)}"
        yield from (f"{'  ' * (depth + 1)}{line}" if line else "" for line in value.lines)
    elif short is not None and len(start) + 1 + len(short) <= MAX_WIDTH:
        yield f"{start} {short}"
    elif isinstance(value, Mapping):
        yield start if value else f"{start} {{}}"
        for key, part in value.items():
            yield from _entry(key, part, depth + 1)
    else:
        yield start
        yield from (f"{'  ' * (depth + 1)}- {_item(part)}" for part in value)


def _inline(value: YamlTree) -> str | None:
    """Return the value on one line; None if it is too long for that."""
    if isinstance(value, YamlLeaf):
        return None if value.remark or value.lines else value.text
    if isinstance(value, Mapping):
        parts = {key: _inline(part) for key, part in value.items()}
        if len(parts) > _MAX_INLINE or any(isinstance(part, Mapping) for part in value.values()):
            return None
        return (
            None if None in parts.values() else f"{{{', '.join(f'{quote_scalar(k)}: {v}' for k, v in parts.items())}}}"
        )
    items = [_inline(part) for part in value]
    return None if None in items else f"[{', '.join(map(str, items))}]"


def _item(value: YamlTree) -> str:
    """Return an item of a list on one line, with its comment."""
    if isinstance(value, YamlLeaf):
        return f"{value.text}{_remark(value)}"
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{quote_scalar(key)}: {part.text}" for key, part in value.items() if isinstance(part, YamlLeaf)
        )
        remarks = [part.remark for part in value.values() if isinstance(part, YamlLeaf) and part.remark]
        return f"{{{inside}}}{_remark(YamlLeaf('', ', '.join(remarks)))}"
    return str(_inline(value))


def _remark(leaf: YamlLeaf) -> str:
    return f"  # {leaf.remark}" if leaf.remark else ""
