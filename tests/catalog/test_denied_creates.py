"""A denied create names the missing right and who could give it, not an expression of the model."""

from __future__ import annotations

import re

import pytest

from lakehold.directory.errors import DeniedError
from tests.demo_company import DemoPlatform, as_member

CREATES = [
    ("bella", "marts.storage", {"project": "sales"}),
    ("ana", "lakehouse.table", {"layer": "clean"}),
    ("tara", "spaces.space", {"tenant": "corner"}),
    ("nils", "tenant.group", {"tenant": "corner"}),
]


@pytest.mark.parametrize(("who", "kind", "edges"), CREATES)
def test_a_denied_create_names_the_missing_right(
    corner: DemoPlatform, who: str, kind: str, edges: dict[str, str]
) -> None:
    with pytest.raises(DeniedError) as refused, corner.write(as_member(who)) as ctx:
        ctx.create(kind, "New", edges=edges)
    hint = refused.value.hint
    assert re.search(r"Missing: .+ on .+ for member .+\. Can be given by .+\.", hint), hint
    assert refused.value.missing
    assert refused.value.givers
