"""REST endpoints that only lakehouses have.

- `connections`: probe a source before it is saved; tokens of integrations
- `table_maintenance`: compact, roll back and describe tables; restore deleted ones
"""
