"""REST endpoints that only lakehouses have.

- `routers`: the list of these routers
- `connections`: probe a source before it is saved; tokens of integrations
- `saved_queries`: saved queries, and results saved as tables
- `table_maintenance`: compact, roll back and describe tables; restore deleted ones
- `volumes`: files of volumes
"""
