"""The pages of data products.

- `product_page`: a data product with its versions and sources
- `entity_pages`: the search in a data product, and the 360 page of an entity
- `source_page`: a source with its columns and first rows
"""

from lakehold.workspaces.products.pages import entity_pages, product_page, source_page

ROUTERS = [product_page.routes, entity_pages.routes, source_page.routes]
