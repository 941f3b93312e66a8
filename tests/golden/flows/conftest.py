"""One platform for all rows of a file. Each row has a project of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from frontend import builder
from tests.golden.flows.acme import AcmeSite, open_site


@pytest.fixture(scope="module")
def acme(template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AcmeSite]:
    builder.build(for_tests=True)
    with open_site(template_file, tmp_path_factory.mktemp("town") / "data") as found:
        yield found
