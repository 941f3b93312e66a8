"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
- `settings`: settings of its kinds
- `attribute_types`: types of attributes, and the columns that each makes
- `curation`: what people say about records and entities
- `api`: REST endpoints
"""
