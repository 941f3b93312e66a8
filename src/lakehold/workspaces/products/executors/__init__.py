"""Executors of the steps of sources and data products. Only a worker imports this.

- `affected_records`: the records whose entity can be another one after some have changed
- `aggregate_expressions`: custom SQL of consolidation, checked by the guard
- `clusters`: clusters of records, from pairs and the constraints of curators
- `entity_changes`: the differences between two versions of entities
- `entity_ids`: stable ids of entities
- `golden_records`: the golden record of each entity
"""
