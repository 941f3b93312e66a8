"""Products: mastered entities with curation and 360 pages.

- `model.yaml`: who may do what: roles inherited from tenant to project to data product
"""
