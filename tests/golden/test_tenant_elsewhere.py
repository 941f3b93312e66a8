"""Sentences on the tenant, lakehouse, spaces and products that no access decision answers.

Each names the room whose tests have to, so that the pages can be ticked off without a gap.
"""

from __future__ import annotations

import pytest

from tests.golden.grid import rows

ELSEWHERE = {
    "Tenant, passwords and magic links: by a tenant Admin; for an Owner by an Owner": "directory, sign-in",
    "Tenant, API tokens: a narrowed token makes no tokens": "directory, API tokens",
    "Tenant, View as: Owner and Admin only, never an Admin as an Owner": "web",
    "Tenant, View as: no data rows, no changes, audited": "web, ledger",
    "Tenant, as whom something runs: who last saved it, or who started it by hand": "runs",
    "Tenant, as whom something runs: an Admin of the workspace can re-assign it": "runs",
    "Tenant, as whom something runs: checked again at start, the missing right is named": "runs, explain",
    "002 settled: stop covers resume, retry, reload and backfill": "runs",
    "002 settled: tables that one may not see are never named": "explain, catalog",
    "003 owner's context: a miss names person, role and space": "explain",
    "003 owner's context: why the owner needs Can edit (catalog, storage tasks)": "documentation",
    "004 In summary: viewers reach 360 pages from the Browse menu": "web",
}


@rows("sentence room", ((sentence, sentence, room) for sentence, room in ELSEWHERE.items()))
def test_answered_elsewhere(sentence: str, room: str) -> None:
    pytest.skip(f"{sentence}: {room}")
