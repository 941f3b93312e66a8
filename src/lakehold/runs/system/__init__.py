"""Permissions, runs and the audit log as tables that a query can ask: each asker's own, with what they may know.

- `known`: which tables there are to somebody
- `system`: finds such a table by its name, and makes it an Iceberg table for one query
- `access`: who may do what with what; `runs`: what ran; `audit`: what was done
"""
