"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
- `settings`: the kinds and their settings
- `attribute_types`: the types of attributes, and the columns that standardisation makes of each
- `product_tables`: the tables that runs make, as resources
- `versions`: the versions of data products, and which one is published
- `pipelines`: what is run: sources, data products and workflows
- `steps`: the steps of their runs
- `executors`: how steps are executed; only a worker imports them
- `lineage`: what data products are made from, and what they fill
"""
