"""The people of Corner & Main, and the loading of the whole company."""

from __future__ import annotations

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Edge, Grant
from lakehold.access.facts.store import FactStore
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF
from lakehold.demo import lakehouse, marts, products, spaces
from lakehold.kit.errors import NotFoundError

TENANT = "corner"

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
        store = session.store
        _load_people(store)
        marts.load(store, TENANT)
        lakehouse.load(store, TENANT)
        spaces.load(store, TENANT)
        products.load(store, TENANT)


def _load_people(store: FactStore) -> None:
    for uid, name in PEOPLE.items():
        store.create(MEMBER, name, uid=uid, edges={"tenant": TENANT})
    for uid, (name, members) in GROUPS.items():
        store.create(GROUP, name, uid=uid, edges={"tenant": TENANT})
        for member in members:
            store.add(Edge(MEMBER_OF, member, uid))
    for member, role in ROLES.items():
        store.add(Grant(member, role, TENANT))
