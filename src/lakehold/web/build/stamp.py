"""Whether what was built is still what would be built."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from lakehold.web.build.places import FRONT, MANIFEST


def wanted() -> str:
    """A digest of everything that the build depends on."""
    digest = sha256()
    for path in _sources():
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)} ".encode() + text)
    return digest.hexdigest()


def found() -> str:
    """The digest that the built files were made with; empty if there are none."""
    try:
        stamp: str = json.loads(MANIFEST.read_text(encoding="utf-8"))["stamp"]
    except (OSError, ValueError, KeyError):
        return ""
    return stamp


def _sources() -> Iterator[Path]:
    for folder in (FRONT, Path(__file__).parent):
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
