"""Forms of resources with a connection: sources, storages and destinations.

- `connector_fields`: fields of databases and APIs
- `source_form`: the form of the connection of a source
- `delivery_form`: the form of a way of sending
- `probe`: the result of probing a source
- `form_page`: renders, tests and saves a form; keeps its secret encrypted meanwhile
"""
