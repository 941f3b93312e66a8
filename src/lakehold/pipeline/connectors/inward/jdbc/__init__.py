"""Databases behind JDBC: PostgreSQL, and any other whose driver an admin has added to Spark's jars.

- `jdbc`: the connector; `catalog`: which tables there are and what tells their rows apart; `bounds`: how a table is
  read in parts
"""
