"""Writes the generated pages of the documentation, which are the access tables and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lakehold import workspaces
from lakehold.access.model.documentation import to_markdown
from lakehold.api.http import app


def access_tables() -> dict[str, str]:
    """Return the text of each access table by its file name."""
    return {f"{model.name}.md": to_markdown(model) for model in workspaces.models()}


def write_docs(folder: Path) -> Iterator[Path]:
    """Write every page whose text has changed, and yield its path."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: text for name, text in access_tables().items()}
    for page, text in {**texts, folder.parent / "openapi.json": app.openapi_text()}.items():
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            yield page
