"""Lakehold: a self-hosted data platform on Apache Spark where one access engine decides everything.

The rooms, each importing only those after it:

- `cli` (later `api`, `web`): how people and programs come in
- `workspaces`: one folder per access model: marts, lakehouse, spaces, products
- `directory`: tenants, members and groups
- `access`: may this person do this? models, facts, check, list, who, explain, review, what-if
- `ledger`: what happened, in commit order
- `kit`: what knows nothing of data or access
"""
