"""The site that the tests of gateways share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres
from tests.workspaces.spaces.gateways.site import GatewaySite, gateway_site


@pytest.fixture(scope="package")
def site(
    template_file: Path, tmp_path_factory: pytest.TempPathFactory, server: postgres.Server, database: str
) -> Iterator[GatewaySite]:
    with gateway_site(template_file, tmp_path_factory.mktemp("gateways"), server, database) as found:
        yield found
