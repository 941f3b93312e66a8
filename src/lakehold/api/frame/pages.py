"""The document as it is kept in the docs."""

from __future__ import annotations

from pathlib import Path

from lakehold.api.frame import openapi
from lakehold.api.frame.app import assembled


def document() -> str:
    """The text of `docs/openapi.json`."""
    return openapi.text(assembled())


def write(folder: Path) -> list[Path]:
    """Write the document if it has changed."""
    page, text = folder / "openapi.json", document()
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return [page]
