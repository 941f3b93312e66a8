"""Corner & Main over HTTP, with nothing done there yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.client import Api, serve_api
from tests.demo_company import TENANT, DemoPlatform, corner, corner_databases, corner_file

__all__ = ["corner", "corner_databases", "corner_file"]


@pytest.fixture
def api(corner: DemoPlatform) -> Iterator[Api]:
    """On SQLite and on PostgreSQL."""
    with serve_api(corner, TENANT) as found:
        yield found
