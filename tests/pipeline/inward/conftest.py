"""What comes in, from real sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pipeline.inward.api import Api, serving


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as found:
        yield found
