"""The OpenAPI document of the application as it is shipped."""

from __future__ import annotations

from functools import cache
from typing import Any

from lakehold.api.http.app import assemble_app


@cache
def load_document() -> dict[str, Any]:
    """Assemble it once for each process: it takes a second, and several files ask for it while tests are collected."""
    return assemble_app().openapi()
