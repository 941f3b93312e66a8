"""Whatever is sent to any operation of the document, the server does not break."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.schemas import OpenApiSchema

from lakehold.api.http.app import operations
from lakehold.demo import company
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from tests.api.client import Api, serve_api
from tests.api.openapi_document import load_document

pytestmark = pytest.mark.slow
_EXAMPLES = 12

Case = Any


@pytest.fixture(scope="module")
def fuzzed(template_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The demo company, to be treated badly."""
    folder = tmp_path_factory.mktemp("fuzzed")
    shutil.copy(template_file, folder / "lakehold.sqlite")
    platform = Platform(Settings(data=folder / "data", database=f"sqlite:///{folder / 'lakehold.sqlite'}"))
    company.load(platform.access)
    with serve_api(platform, company.TENANT) as api:
        yield api
    platform.close()


@pytest.fixture(scope="module")
def document(fuzzed: Api) -> OpenApiSchema:
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", fuzzed.app)


@pytest.mark.parametrize(("path", "method"), [(path, method) for path, method, _ in operations(load_document())])
def test_nothing_breaks_the_server(fuzzed: Api, document: OpenApiSchema, path: str, method: str) -> None:
    signed_in = {"Authorization": f"Bearer {fuzzed.token('olga')}"}

    @settings(
        max_examples=_EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=document[path][method].as_strategy())
    def ask(case: Case) -> None:
        answer = case.call(headers=signed_in)
        assert answer.status_code < 500, f"{case.as_curl_command()}: {answer.text}"

    ask()
