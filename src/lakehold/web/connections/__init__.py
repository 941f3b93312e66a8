"""The form kit: forms of resources with a connection, such as sources, storages and destinations, from descriptors.

- `field_values`: texts of fields: parsed, checked, turned into settings and back
- `form`: the design of a form, which YAML describes, and its values
- `form_page`: renders, tests and saves a form; keeps its secret encrypted meanwhile; registers its routes
"""
