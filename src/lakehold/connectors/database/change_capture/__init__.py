"""Change data capture from PostgreSQL by logical decoding, with the plugin `pgoutput` that every server has.

- `messages`: decodes the messages of the plugin
- `arrays`: array values as the server writes them
- `replication_source`: the database that is captured: its slot, publication, snapshots and checks
- `change_files`: changes of tables, collected from whole transactions into files of bounded memory
- `change_merge`: applies collected changes to Iceberg tables
"""
