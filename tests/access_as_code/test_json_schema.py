"""The JSON Schema: it says what the reader says, and the copy in the documentation is not stale."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from lakehold.access.engine import AccessEngine
from lakehold.access_as_code import json_schema, parse_files, parser
from lakehold.demo import company
from lakehold.workspaces import policy
from tests.access_as_code.direct_writer import apply_files, export_as_owner
from tests.access_as_code.test_assertions import FAILING, PASSING
from tests.access_as_code.test_desired_state import COMPANY
from tests.access_as_code.test_plan import LAB, STUDIES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_schema.build_schema(policy()))


def test_the_copy_in_the_documentation() -> None:
    assert (DOCS / "code.schema.json").read_text(encoding="utf-8") == json_schema.render_schema(policy()), (
        "Write it again: schema.text(workspaces.policy()) is what it should say."
    )


def test_the_demo_company_is_valid(validator: jsonschema_rs.Validator, files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".yaml"):
            validator.validate(_plain(text))


@pytest.mark.parametrize("text", [COMPANY, PASSING, FAILING])
def test_what_can_be_read_is_valid(validator: jsonschema_rs.Validator, text: str) -> None:
    parse_files({"any.yaml": text})
    validator.validate(_plain(text))


@pytest.mark.parametrize(
    "text",
    [
        "tenent: {name: Acme}",
        "members: [ann]",
        "members: {ann: {nam: Ann}}",
        "groups: {makers: {email: a@b.c}}",
        "workspaces: {x: {name: no kind}}",
        "workspaces: {x: {kind: marts.project, scope: entire_project}}",
        "workspaces: {x: {kind: marts.project, membership: {bob: {scope: here}}}}",
        "workspaces: {x: {kind: marts.project, holds: {layer: {}}}}",
        "workspaces: {x: {kind: spaces.space, personal: maybe}}",
        "workspaces: {x: {kind: spaces.space, can_view: {when: ann}}}",
        "tests: [{who: x, can: see}]",
        "tests: [{who: x, on: y}]",
    ],
)
def test_what_cannot_be_read_is_not_valid(validator: jsonschema_rs.Validator, text: str) -> None:
    assert not validator.is_valid(_plain(text))


def _plain(text: str) -> object:
    """As editors read it: YAML 1.2, to which `on` and a day are texts."""
    return _value(parser.parse_document(text, "any.yaml"))


def _value(node: parser.Node) -> object:
    if isinstance(node, parser.MappingNode):
        return {key: _value(part) for key, (_, part) in node.entries.items()}
    if isinstance(node, parser.ListNode):
        return [_value(part) for part in node.items]
    if node.is_empty:
        return None
    return {"true": True, "false": False}.get(node.value, node.value) if node.bare else node.value


def test_it_knows_the_models_of_the_tenant(access: AccessEngine, files: dict[str, str]) -> None:
    files |= {"models/studies.yaml": STUDIES, "workspaces/lab.yaml": LAB}
    apply_files(access, company.TENANT, files)
    there = export_as_owner(access, company.TENANT)
    validator = jsonschema_rs.validator_for(json.loads(there["code.schema.json"]))
    lab = yaml.safe_load(there["workspaces/lab.yaml"])
    validator.validate(lab)
    lab["workspaces"]["lab"]["haed"] = "carla"
    assert not validator.is_valid(lab)
