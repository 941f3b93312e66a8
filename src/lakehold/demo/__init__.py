"""Corner & Main, the demo company: a small retailer that the demo, the tests and the documentation share.

Everything is generated the same each time, and people are named by their role.

- `company`: the people, and the loading of `resources.yaml`: four workspaces with realistic grants
- `activity`: what people did, by `activity.yaml`: accounts, descriptions, saved queries, requests, usage
- `web_shop`: a lakehouse with data and pipelines, and its data marts and reports, by `web_shop.yaml`
- `data_space`: the data space of the web shop with the tasks of its project, by `data_space.yaml`
- `branch`: a data project that lands the sales of a branch through a gateway while they are made, by `branch.yaml`
- `branch_database`: the PostgreSQL of the branch, and its sales, in a process of its own
- `web_shop_data`: the generated data of the web shop, and its events API
"""
