"""Corner & Main: its people, and the loading of all of its facts."""

from pathlib import Path
from typing import Any

import yaml

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Attribute, Edge, Grant
from lakehold.access.facts.store import FactStore
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF
from lakehold.directory.caller import Caller
from lakehold.kit.errors import NotFoundError

TENANT = "corner"
MARTS_PROJECT, LAKEHOUSE = "sales", "lake_house"

PEOPLE = {
    "olga": "Olga, Owner",
    "adam": "Adam, Admin",
    "edith": "Edith, Tenant Editor",
    "victor": "Victor, Tenant Viewer",
    "dana": "Dana, Data Admin",
    "stella": "Stella, Space Creator",
    "tara": "Tara, Technical User",
    "tim": "Tim, Technical User in EMEA",
    "bella": "Bella, Business User",
    "boris": "Boris, Business User in EMEA",
    "mona": "Mona, Manager of the lake",
    "erik": "Erik, Engineer",
    "ana": "Ana, Analyst",
    "otto": "Otto, Operator",
    "petra": "Petra, Project Owner",
    "carla": "Carla, Curator",
    "nils": "Nils, New here",
}

GROUPS = {
    "engineers": ("Engineers", ("erik", "otto", "tara")),
    "analysts": ("Analysts", ("ana", "bella", "boris")),
    "stewards": ("Data stewards", ("mona", "carla")),
}

ROLES = {
    "olga": "owner",
    "adam": "admin",
    "edith": "editor",
    "victor": "viewer",
    "dana": "data_admin",
    "stella": "data_space_creator",
}


def is_loaded(access: AccessEngine) -> bool:
    """Return whether the company exists."""
    try:
        with access.read(TENANT):
            return True
    except NotFoundError:
        return False


def load(access: AccessEngine) -> None:
    """Create the tenant and write all of its facts in one transaction."""
    access.create_tenant(TENANT, "Corner & Main", workspaces.models())
    load_facts(access)


def load_facts(access: AccessEngine) -> None:
    """Write all facts into an existing tenant of this id."""
    with access.write(TENANT) as session:
        load_people(session.store)
        load_resources(session.store)


def load_people(store: FactStore) -> None:
    """Write the people with their groups and roles."""
    for uid, name in PEOPLE.items():
        store.create(MEMBER, name, uid=uid, edges={"tenant": TENANT})
    for uid, (name, members) in GROUPS.items():
        store.create(GROUP, name, uid=uid, edges={"tenant": TENANT})
        for member in members:
            store.add(Edge(MEMBER_OF, member, uid))
    for member, role in ROLES.items():
        store.add(Grant(member, role, TENANT))


def load_resources(store: FactStore) -> None:
    """Write the resources of all workspaces with their grants."""
    for row in read_yaml("resources.yaml"):
        match row:
            case {"grant": role, "subject": subject, "resource": resource}:
                store.add(Grant(subject, role, resource))
            case {"attribute": name, "value": value, "resource": resource, "member": member}:
                store.add(Attribute(resource, name, value, member))
            case {"kind": kind, "id": uid}:
                name = row.get("name") or uid.replace("_", " ").capitalize()
                fields = {field: row.get(field) for field in ("edges", "attributes", "creator")}
                store.create(kind, name, uid=uid, **fields)


def read_yaml(name: str) -> Any:  # noqa: ANN401 - each file has a shape of its own
    """Read a file of this folder."""
    return yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))


def caller(member: str) -> Caller:
    """Return a member of the company as the caller of a service."""
    return Caller(TENANT, member)
