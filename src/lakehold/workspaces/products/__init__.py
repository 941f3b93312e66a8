"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
- `settings`: the kinds and their settings
- `attribute_types`: the types of attributes, and the columns that standardisation makes of a value
- `standardisation`: standardises values by type
- `profiles`: what is known of the columns of a source
- `type_inference`: infers the type of a column from its values and its name
- `column_names`: reads names of columns, in several languages
- `mapping_suggestions`: suggests columns for attributes, and attributes for columns
- `templates`: templates of data products
- `executors`: what is computed with Spark; only a worker imports it
"""
