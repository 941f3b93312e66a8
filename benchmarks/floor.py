"""SQLite alone: the same rows by hand-written statements on the same tables, without an engine and without time."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from benchmarks.facts import ALL, TENANT
from benchmarks.questions import LADDER, LEVEL

_ME = """
me(id) AS (
  SELECT :me UNION ALL SELECT :all
  UNION ALL SELECT target_id FROM access_edge WHERE source_id = :me AND name = 'tenant.member.member_of'
)"""

_SEEN = f"""
{_ME},
layers(id) AS (
  SELECT resource_id FROM access_grant WHERE subject_id IN (SELECT id FROM me)
  AND role IN ('lakehouse.layer.viewer', 'lakehouse.layer.editor', 'lakehouse.layer.manager')
),
seen(id) AS (
  SELECT resource_id FROM access_grant WHERE subject_id IN (SELECT id FROM me)
  AND role IN ('lakehouse.table.viewer', 'lakehouse.table.editor', 'lakehouse.table.manager')
  UNION
  SELECT source_id FROM access_edge WHERE target_id IN (SELECT id FROM layers) AND name = 'lakehouse.table.layer'
)"""

_CHECK = """
WITH {me} SELECT EXISTS (
  SELECT 1 FROM access_grant WHERE resource_id = :here AND subject_id IN (SELECT id FROM me)
  AND role IN ({on_table})
) OR EXISTS (
  SELECT 1 FROM access_edge e JOIN access_grant g ON g.resource_id = e.target_id
  WHERE e.source_id = :here AND e.name = 'lakehouse.table.layer'
  AND g.subject_id IN (SELECT id FROM me) AND g.role IN ({on_layer})
) OR EXISTS (
  SELECT 1 FROM access_grant WHERE resource_id = :tenant AND subject_id IN (SELECT id FROM me)
  AND role IN ('tenant.tenant.admin', 'tenant.tenant.owner')
)"""

_NAMES = "('lakehouse.query.reads', 'lakehouse.query.writes')"
_AT_END = f"SELECT 1 FROM access_edge e WHERE e.source_id = r.id AND e.name IN {_NAMES}"

_PIPELINES = f"""
WITH {_SEEN} SELECT {{columns}} FROM resource r WHERE r.tenant_id = :tenant AND r.kind = 'lakehouse.query'
AND EXISTS ({_AT_END}) AND NOT EXISTS ({_AT_END} AND e.target_id NOT IN (SELECT id FROM seen))"""

_WHO = """
WITH layer(id) AS (SELECT target_id FROM access_edge WHERE source_id = :here AND name = 'lakehouse.table.layer'),
holders(id) AS (
  SELECT subject_id FROM access_grant WHERE resource_id = :here
  UNION SELECT subject_id FROM access_grant WHERE resource_id IN (SELECT id FROM layer)
  UNION SELECT subject_id FROM access_grant WHERE resource_id = :tenant
)
SELECT r.uid FROM resource r WHERE r.tenant_id = :tenant AND r.kind = 'tenant.member' AND (
  r.id IN (SELECT id FROM holders) OR :all IN (SELECT id FROM holders)
  OR EXISTS (
    SELECT 1 FROM access_edge e WHERE e.source_id = r.id AND e.name = 'tenant.member.member_of'
    AND e.target_id IN (SELECT id FROM holders)
  )
) ORDER BY r.sort_name"""


def _words(kind: str, level: str) -> str:
    return ", ".join(f"'lakehouse.{kind}.{role}'" for role, levels in LADDER.items() if level in levels)


class Floor:
    """One connection that only reads."""

    def __init__(self, file: Path, numbers: Mapping[str, int]) -> None:
        self._connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        self._connection.execute("PRAGMA cache_size = -65536")
        self._numbers = numbers
        self._checks = {
            action: _CHECK.format(me=_ME, on_table=_words("table", level), on_layer=_words("layer", level))
            for action, level in LEVEL.items()
        }

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def _values(self, member: str, here: str = TENANT) -> dict[str, int]:
        known = self._numbers
        return {"me": known[member], "all": known[ALL], "tenant": known[TENANT], "here": known[here]}

    def check(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""
        return bool(self._connection.execute(self._checks[action], self._values(member, uid)).fetchone()[0])

    def tables(self, member: str) -> list[int]:
        """The numbers of all tables that the member may see."""
        found = self._connection.execute(f"WITH {_SEEN} SELECT id FROM seen", self._values(member))
        return [number for (number,) in found]

    def table_page(self, member: str) -> list[tuple[int, str, str]]:
        """The first 50 of them by name."""
        query = (
            f"WITH {_SEEN} SELECT r.id, r.uid, r.name FROM resource r WHERE r.tenant_id = :tenant"
            " AND r.kind = 'lakehouse.table' AND r.id IN (SELECT id FROM seen) ORDER BY r.sort_name, r.id LIMIT 50"
        )
        return self._connection.execute(query, self._values(member)).fetchall()

    def pipelines(self, member: str) -> list[int]:
        """The numbers of all pipelines of which the member may see every table."""
        found = self._connection.execute(_PIPELINES.format(columns="r.id"), self._values(member))
        return [number for (number,) in found]

    def pipeline_page(self, member: str) -> list[tuple[int, str, str]]:
        """The first 50 of them by name."""
        query = _PIPELINES.format(columns="r.id, r.uid, r.name") + " ORDER BY r.sort_name, r.id LIMIT 50"
        return self._connection.execute(query, self._values(member)).fetchall()

    def who(self, uid: str) -> list[str]:
        """Those who may read the table."""
        return [found for (found,) in self._connection.execute(_WHO, self._values(ALL, uid))]
