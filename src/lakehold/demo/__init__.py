"""Corner & Main, the demo company: a small retailer that the demo, the tests and the documentation share.

Everything is generated the same each time, and people are named by their role.

- `company`: the people, and the loading of everything below
- `marts`: a project of data marts with realistic grants
- `lakehouse`: a lakehouse with realistic grants
- `spaces`: data spaces with realistic grants
- `products`: mastered entities with realistic grants
- `web_shop`: a lakehouse with data and pipelines
- `web_shop_data`: the generated data of the web shop, and its events API
- `web_shop_marts`: data marts and reports of the web shop
- `activity`: what people did: accounts, descriptions, saved queries, requests, usage
- `content`: their texts and queries
"""
