"""Crawls all pages: looks for leaks as every member, checks each page in a browser, and sends every form.

- `templates`: the address templates of all pages, from the routers
- `links`, `forms`: where a page leads, and the forms that it has
- `sample_data`, `company`: the data that every page needs to show something
- `pages`: follows every link as every member, opens every page with hidden ids, and searches the answers for what the
  visitor may not see, as `tests.api.crawler` does
- `page_tracker`: visits each kind of page once
- `browser_tour`: checks the pages of a tracker in a browser
"""
