"""Corner & Main over HTTP, with nothing done there yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.client import Api, served
from tests.corner import TENANT, Corner, corner, corner_file, corner_template

__all__ = ["corner", "corner_file", "corner_template"]


@pytest.fixture
def api(corner: Corner) -> Iterator[Api]:
    """On SQLite and on PostgreSQL."""
    with served(corner, TENANT) as found:
        yield found
