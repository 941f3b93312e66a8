"""One town for all rows of a file; each has a project of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehold.web.build import builder
from tests.golden.flows.town import Town, opened


@pytest.fixture(scope="module")
def town(template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    builder.build(for_tests=True)
    with opened(template_file, tmp_path_factory.mktemp("town") / "data") as found:
        yield found
