"""The connector of HTTP APIs that answer with JSON."""

from pathlib import Path
from typing import Any

from lakehold.connectors.api.settings import ApiSourceSettings
from lakehold.connectors.form_fields import Facts, load_fields
from lakehold.connectors.registry import Connector


def _describe(form: Any, secrets: Facts) -> Facts:  # noqa: ANN401 - the values of a form
    count = len(form.lists["endpoints"])
    reached = [("Address", form.text("address")), ("Authentication", form.label_of("auth"))]
    return [*reached, *secrets, ("Endpoints", f"{count:,} endpoint{'' if count == 1 else 's'}")]


CONNECTOR = Connector(
    name="api",
    label="API",
    icon="globe",
    source=ApiSourceSettings,
    source_hint="Paginated JSON endpoints.",
    source_form=load_fields(Path(__file__).with_name("form.yaml"), "source", describe=_describe),
)
