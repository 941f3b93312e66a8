"""Pages of a project of data marts beside those that all workspaces share.

- `overview`: a project at a glance
- `home_section`: what the home page shows to members who only report
- `page_frame`: template values, form page and credentials copy that resources share
- `storage_form`: the form of a storage
- `storage_pages`: the page of a storage, and its tables
- `storage_probe`: probing a storage, and the options of the data mart form
- `data_marts`: forms, pages, schema and quality of data marts
- `destination_form`: the form of a destination
- `destination_pages`: the page of a destination, its live secret and delivered files
- `reports`: forms, pages and previews of reports
- `notifications`: channels, receivers and the webhook
- `routers`: the routers, in the order in which they are matched
"""
