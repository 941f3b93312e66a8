"""The access engine: it decides, lists, explains and reviews who may do what, from models that are data.

- `model`: the language of access models, and its compilation into a policy
- `facts`: grants, attributes and edges: in memory, in the database, and as they were at any moment
- `decisions`: check, explain and what-if over the facts of one view
- `query`: list and who, as SQL that the database evaluates
- `review`: every member × resource × action, as a Spark DataFrame
- `engine`: the engine of one process: a shared index for each tenant
- `session`: all queries and changes inside one transaction, at one sequence number and one moment
"""

from lakehold.access.decisions.principal import TokenPrincipal
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Adopt, Attribute, Draft, Edge, Grant, Remove
from lakehold.access.model.policy import RequestProperties
from lakehold.access.session import AccessSession

__all__ = [
    "AccessEngine",
    "AccessSession",
    "Add",
    "Adopt",
    "Attribute",
    "Draft",
    "Edge",
    "Grant",
    "Remove",
    "RequestProperties",
    "TokenPrincipal",
]
