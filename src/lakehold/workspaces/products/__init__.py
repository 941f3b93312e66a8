"""Products: mastered entities with curation and 360 pages.

The rights are in model.yaml: roles inherited from tenant to project to data product.

- `workspace`: the descriptor
"""
