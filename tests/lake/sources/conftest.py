"""Fixtures for tests of real sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lake.sources.fake_api import FakeApi, serve_fake_api


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with serve_fake_api() as found:
        yield found
