"""May this person do this? One engine decides, lists, explains and reviews it, from models that are data.

- `model`: the language of access models, and how a text in it becomes something to decide with
- `facts`: grants, attributes and edges: in memory, in the database, and as they were at any moment
- `decide`: check, explain, what-if over the facts of one view
- `query`: list and who, as SQL that the database evaluates
- `review`: every member × resource × action, as a Spark DataFrame
- `access`: the engine of one process: a shared index for each tenant
- `questions`: everything that can be asked at one moment
- `session`: decisions inside one transaction, all at one sequence number and one moment
"""

from lakehold.access.access import Access
from lakehold.access.decide.subjects import Token
from lakehold.access.facts.records import Add, Adopt, Attribute, Draft, Edge, Grant, Remove
from lakehold.access.model.requests import Request
from lakehold.access.session import Session

__all__ = ["Access", "Add", "Adopt", "Attribute", "Draft", "Edge", "Grant", "Remove", "Request", "Session", "Token"]
