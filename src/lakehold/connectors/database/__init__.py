"""Connector for databases behind JDBC: PostgreSQL, and any other whose driver an admin has added to Spark's jars.

- `connector`: the descriptor, and the address of a database as form fields
- `settings`: address and driver of a database, what of it is read, and where rows are written
- `jdbc`: a database behind JDBC, and a connection to it
- `source`: tables, views and queries (in parentheses that they cannot leave) as a source, and partitioned reads
- `destination`: rows in a table, exactly once
- `target_table`: the target table, its columns and its staging table
- `copy_output`: rows of PostgreSQL's `COPY … TO STDOUT`, for those who read without Spark
- `change_capture`: changes of PostgreSQL by logical decoding
"""
