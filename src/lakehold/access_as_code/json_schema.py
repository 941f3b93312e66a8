"""The file format as a JSON Schema, generated from the models, so that editors complete and check it."""

import json
from collections.abc import Mapping

from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.policy import GROUP, MEMBER, TENANT, Policy
from lakehold.access.model.schema import AttributeKind, KindPolicy, RoleKind
from lakehold.access_as_code import file_format
from lakehold.access_as_code.tenant_state import child_kinds, schedule_keyword

JsonSchema = dict[str, object]

_TIME: JsonSchema = {
    "description": "A day, which begins at midnight UTC, or a time with its zone.",
    "type": ["string", "integer"],
    "examples": ["2026-01-31", "2026-01-31T12:00:00Z"],
}
_ID: JsonSchema = {"type": ["string", "number"], "minLength": 1}


def render_schema(policy: Policy) -> str:
    """Return the schema for these models as JSON text."""
    return json.dumps(build_schema(policy), indent=1, ensure_ascii=False) + "\n"


def build_schema(policy: Policy) -> JsonSchema:
    """Return the schema of a file for these models."""
    workspaces = [kind for kind in policy.kinds if kind not in {TENANT, MEMBER, GROUP, ALL_MEMBERS}]
    sections: dict[str, JsonSchema] = {
        "tenant": _described("Name, roles and settings of the tenant.", _ref(TENANT)),
        "all": _described("Roles of the built-in group All.", _ref(ALL_MEMBERS)),
        "members": _described("Members and service accounts by id.", _map(_ref(MEMBER))),
        "groups": _described("Groups by id.", _map(_ref(GROUP))),
        "workspaces": _described("Workspaces by id, each with all that lies in it.", _map(_workspace(workspaces))),
        "models": _described("Access models as texts, by name.", _map({"type": "string"})),
        "tests": _described("Actions that must be allowed, and that must not.", {"type": "array", "items": _test()}),
    }
    return {
        "title": "Lakehold: access as code",
        **_object(sections),
        "$defs": {
            "time": _TIME,
            "schedule": _schedule(),
            "authors": _authors(),
            "who": _some(_entry("who", _described("A member or group by id; /all is everybody.", _ID))),
            "to": _some(_entry("to", _described("Another resource by id.", _ID))),
            "flag": _some(_entry("is", {"type": "boolean"})),
            **{kind.id: _kind_schema(policy, kind) for kind in policy.kinds.values()},
        },
    }


def _described(description: str, found: JsonSchema) -> JsonSchema:
    return {"description": description, **found}


def _object(properties: Mapping[str, object], required: tuple[str, ...] = ()) -> JsonSchema:
    found: JsonSchema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _map(values: JsonSchema) -> JsonSchema:
    return {"type": "object", "additionalProperties": values}


def _ref(name: str) -> JsonSchema:
    return {"$ref": f"#/$defs/{name}"}


def _some(part: JsonSchema) -> JsonSchema:
    """Return the schema of one value, or a list of them."""
    return {"anyOf": [part, {"type": "array", "items": part}]}


def _entry(key: str, value: JsonSchema) -> JsonSchema:
    """Return the schema of a value alone, or with the span in which it holds."""
    return {"anyOf": [value, _object({key: value, "from": _ref("time"), "until": _ref("time")}, (key,))]}


def _workspace(kinds: list[str]) -> JsonSchema:
    """Return the schema of a workspace, which depends on its kind. An unknown kind may be one of another model."""
    named: JsonSchema = {"description": "The kind of workspace.", "type": "string", "examples": kinds}
    cases = [{"if": {"properties": {"kind": {"const": kind}}}, "then": _ref(kind)} for kind in kinds]
    return {"type": "object", "required": ["kind"], "properties": {"kind": named}, "allOf": cases}


def _kind_schema(policy: Policy, kind: KindPolicy) -> JsonSchema:
    found = kind.schema
    properties: dict[str, object] = {"name": {"description": "Its name.", "type": ["string", "number"]}}
    if kind.id not in {TENANT, MEMBER, GROUP, ALL_MEMBERS}:
        properties["kind"] = {"const": kind.id}
    if kind.id == MEMBER:
        properties["email"] = {"description": "The address for sign-in and mails.", "type": "string"}
        properties["service"] = {"description": "A service account: nobody signs in to it.", "const": True}
    properties["description"] = {"description": "What it is for.", "type": ["string", "number"]}
    properties["settings"] = {"description": "Its settings.", "type": "object"}
    if "kind" in properties:
        properties["authors"] = _ref("authors")
    keyword = schedule_keyword(policy, kind.id)
    if keyword:
        one = _ref("schedule")
        properties[keyword] = one if keyword == "schedule" else _described("When it is run, by trigger.", _map(one))
    properties["credentials"] = _described("Names of its credentials, whose values are not in files.", _some(_ID))
    if kind.id == GROUP:
        properties["members"] = _described("Members of the group.", _ref("who"))
    for role in found.roles.values():
        properties[file_format.escape_keyword(role.name)] = _role(role)
    for edge in found.edges.values():
        ends = " or ".join(kind.steps[edge.name].kinds)
        properties[file_format.escape_keyword(edge.name)] = _described(f"Points at {ends}.", _ref("to"))
    for attribute in found.attributes.values():
        properties[file_format.escape_keyword(attribute.name)] = _attribute(attribute)
    if found.membership:
        values = {attribute.name: _attribute(attribute) for attribute in found.membership.values()}
        properties["membership"] = _described("Attributes of memberships, by member.", _map(_object(values)))
    properties["loose"] = {"description": "It has no parent at present.", "const": True}
    inside = _inside(policy, kind)
    if inside:
        properties["holds"] = _described("Resources in it, by kind and id.", _object(inside))
    # Nothing said is written as `orders:` or `orders: {}`.
    return {"description": found.title, **_object(properties), "type": ["object", "null"]}


def _authors() -> JsonSchema:
    narrowed = _object({"member": _ID, "actions": _some(_ID), "resources": _some(_ID)}, ("member",))
    author: JsonSchema = {"anyOf": [_ID, {"type": "null"}, narrowed]}
    described = "Who last changed its definition, or each part of it; whoever applies the files unless said otherwise."
    return _described(described, {"anyOf": [author, _map(author)]})


def _schedule() -> JsonSchema:
    properties = {
        "cron": _described("Minute, hour, day, month, weekday.", {"type": "string", "examples": ["30 6 * * 1-5"]}),
        "zone": _described("The time zone; UTC unless said otherwise.", {"type": "string"}),
        "after": _described("Instead of cron: run after these have succeeded.", _some(_ID)),
        "every": _described("Whether all of these must succeed; else any one.", {"type": "boolean"}),
        "parameters": _described("Parameters of its runs.", {"type": "object"}),
        "starter": _described("The member that it runs as; whoever applies the files unless said otherwise.", _ID),
        "enabled": _described("false for a paused one.", {"type": "boolean"}),
    }
    return _described("When something is run: by cron, or after others.", _object(properties))


def _role(role: RoleKind) -> JsonSchema:
    whom = "one member" if role.single else "members" if role.person_only else "members and groups"
    return _described(f"{role.title}: {whom}.", _ref("who"))


def _attribute(attribute: AttributeKind) -> JsonSchema:
    described = f"{attribute.import_default} unless said otherwise."
    value = _ref("flag") if attribute.is_flag else _some(_entry("is", {"enum": list(attribute.values)}))
    return _described(described, value)


def _inside(policy: Policy, kind: KindPolicy) -> dict[str, object]:
    model = f"{kind.schema.model}."
    kinds = [child for child in child_kinds(policy, kind.id) if child not in {MEMBER, GROUP, ALL_MEMBERS}]
    return {child.removeprefix(model): _map(_ref(child)) for child in kinds} if kind.id != TENANT else {}


def _test() -> JsonSchema:
    texts = _some(_ID)
    properties = {
        "name": {"description": "Name of the test.", "type": "string"},
        "who": _described("Members; a group stands for everybody in it.", texts),
        "can": _described("Actions that must be allowed; `give viewer` for giving a role.", texts),
        "cannot": _described("Actions that must not be allowed.", texts),
        "on": _described("Resources by id; / is the tenant.", texts),
        "at": _described("Evaluated at this time.", _ref("time")),
    }
    return {**_object(properties, ("who", "on")), "anyOf": [{"required": ["can"]}, {"required": ["cannot"]}]}
