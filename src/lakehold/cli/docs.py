"""Writes the pages of the documentation that are made from the code: access tables, and the API's document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lakehold import workspaces
from lakehold.access.model.documentation import to_markdown
from lakehold.api.frame import pages as document


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    return {f"{model.name}.md": to_markdown(model) for model in workspaces.models()}


def write(folder: Path) -> Iterator[Path]:
    """Write every page whose text has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            yield page
    yield from document.write(folder.parent)
