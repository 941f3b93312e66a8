"""Looks for side doors in pages: follows every link as everybody, and asks every page about what is hidden.

- `links`: where a page leads
- `pages`: walks, probes, and looks in the answers for what the visitor may not see, as `tests.api.crawling` does
- `lived_in`: what the company needs so that every page has something to show
"""
