"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
- `settings`: the kinds and their settings
- `attribute_types`: the types of attributes, and the columns that standardisation makes of each
- `standardisation`: standard forms of values, and their parts
- `matching`: finds the pairs of records that may be the same
- `profiles`: what is known of the columns of a source
- `source_profiles`: the stored profiles of sources
- `type_inference`: infers the type of a column from its values and its name
- `column_names`: reads names of columns, in several languages
- `mapping_suggestions`: suggests columns for attributes, and attributes for columns
- `templates`: templates of data products
- `product_tables`: the tables that runs make, as resources
- `entity_index`: the search index of a published version
- `published_entities`: the entities of a published version, for whoever may view them
- `publication`: starts the run that publishes a version
- `versions`: the versions of data products, and which one is published
- `connection_probe`: who may probe the connection of a source or a destination
- `curation`: what people say about records and entities
- `match_states`: the trained model of a data product, and what it was last used on
- `pipelines`: what is run: sources, data products and workflows
- `steps`: the steps of their runs
- `entities`: how records become entities, without Spark
- `executors`: how steps are executed; only a worker imports them
- `pages`: the pages
- `api`: the REST endpoints
- `lineage`: what data products are made from, and what they fill
"""
