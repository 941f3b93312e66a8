"""Source connector for databases behind JDBC: PostgreSQL, and any other whose driver an admin has added to Spark's
jars.

- `connector`: the connector, the database's tables and keys, and partitioned reads
"""
