"""Goes through all pages: looks for side doors as everybody, for what is wrong with a browser, and sends every form.

- `templates`: the pages that there are, as the routers have them
- `links`, `sending`: where a page leads, and the forms that it has
- `lived_in`, `company`: what the company needs so that every page has something to show
- `pages`: follows every link as everybody, asks every page about what is hidden, and looks in the answers for what the
  visitor may not see, as `tests.api.crawling` does
- `round`: goes to each page once
- `tour`: looks at the pages of a round with a browser
"""
