"""The holders of an action: all members who may do something with a resource, found by the database."""

from collections.abc import Callable
from functools import lru_cache

from lakehold.access.facts.records import require_text
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER, Policy
from lakehold.access.query.conditions import ConditionWriter
from lakehold.access.query.listing import SqlStatement
from lakehold.access.query.statement import Placeholders, SqlTerm, write_shallow
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction


@lru_cache(maxsize=2_048)
def _who_statement(policy: Policy, dialect: str, kind: str, action: str) -> SqlStatement:
    bind = Placeholders(dialect)
    never: Callable[[str], bool] = lambda _kind: False  # noqa: E731 - the principal varies, so no set is worked out once
    member, here = SqlTerm("m.id", fixed=False), SqlTerm(bind("here"), fixed=True)

    def write(deepest: int) -> str:
        sql = ConditionWriter(policy, bind, never, deepest)
        holds = sql.holds(policy.relations[kind, action], kind, member, here)
        return sql.build(
            f"SELECT m.uid FROM resource m WHERE {sql.kind_condition(MEMBER, 'm')} AND {holds}"
            " ORDER BY m.sort_name, m.id"
        )

    return SqlStatement(write_shallow(dialect, write))


def action_members(
    transaction: Transaction, tenant: int, view: FactView, at: Moment, *, action: str, resource: str
) -> list[str]:
    """Return the members who may do something with a resource at one moment, by name."""
    here = view.resource(resource)
    kind = view.kind(here)
    view.policy.action(kind, require_text(action, "action"))
    values: dict[str, object] = {
        "here": here,
        "me": 0,
        "mine": Placeholders(transaction.dialect).list_value([]),
        "at": at,
        "tenant": tenant,
        "everyone": view.everyone,
    }
    statement = _who_statement(view.policy, transaction.dialect, kind, action)
    return [str(uid) for (uid,) in statement.run(transaction, values)]
