"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
- `settings`: the kinds and their settings
- `attribute_types`: the types of attributes, and the columns that standardisation makes of a value
- `standardisation`: standardises values by type
- `executors`: what is computed with Spark; only a worker imports it
"""
