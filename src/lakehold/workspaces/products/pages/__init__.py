"""The pages of data products.

- `product_page`: a data product with its versions and sources
- `product_form`: the values of the form of a data product
- `product_form_pages`: the form of a data product
- `entity_pages`: the search in a data product, and the 360 page of an entity
- `connection_forms`: the forms of sources and destinations
- `source_page`: a source with its columns and first rows
"""

from lakehold.workspaces.products.pages import (
    connection_forms,
    entity_pages,
    product_form_pages,
    product_page,
    source_page,
)

ROUTERS = [
    *(connection_forms.new_source, connection_forms.source_routes),
    *(connection_forms.new_destination, connection_forms.destination_routes),
    *(product_form_pages.new, product_form_pages.routes),
    product_page.routes,
    entity_pages.routes,
    source_page.routes,
]
