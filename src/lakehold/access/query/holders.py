"""All members who may do something with a resource, found by the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from lakehold.access.facts.inputs import text
from lakehold.access.facts.view import View
from lakehold.access.model.policy import MEMBER, Policy
from lakehold.access.query.listing import Statement
from lakehold.access.query.nesting import shallow
from lakehold.access.query.sets import Bind
from lakehold.access.query.sql import Conditions
from lakehold.access.query.terms import Term
from lakehold.kit.clock import Moment
from lakehold.kit.database import Transaction


@lru_cache(maxsize=2_048)
def _statement(policy: Policy, dialect: str, kind: str, action: str) -> Statement:
    bind = Bind(dialect)
    never: Callable[[str], bool] = lambda _kind: False  # noqa: E731 - the asker varies, so no set is worked out once
    member, here = Term("m.id", fixed=False), Term(bind("here"), fixed=True)

    def write(deepest: int) -> str:
        sql = Conditions(policy, bind, never, deepest)
        holds = sql.holds(policy.relations[kind, action], kind, member, here)
        return sql.statement(
            f"SELECT m.uid FROM resource m WHERE {sql.all_of(MEMBER, 'm')} AND {holds} ORDER BY m.sort_name, m.id"
        )

    return Statement(shallow(dialect, write))


@dataclass(frozen=True, slots=True)
class Holders:
    """Who may, in one transaction, at one moment."""

    transaction: Transaction
    tenant: int
    view: View
    at: Moment

    def who(self, action: str, resource: str) -> list[str]:
        """The members who may do this, by name."""
        here = self.view.resource(resource)
        kind = self.view.kind(here)
        self.view.policy.action(kind, text(action, "action"))
        statement = _statement(self.view.policy, self.transaction.dialect, kind, action)
        values: dict[str, object] = {
            "here": here,
            "me": 0,
            "mine": Bind(self.transaction.dialect).told([]),
            "at": self.at,
            "tenant": self.tenant,
            "everyone": self.view.everyone,
        }
        return [str(uid) for (uid,) in statement.run(self.transaction, values)]
