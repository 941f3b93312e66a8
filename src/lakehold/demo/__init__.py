"""Corner & Main, the demo company: a small retailer that the demo, the tests and the documentation share.

- `company`: the people, and how everything below is loaded
- `marts`, `lakehouse`, `spaces`, `products`: one workspace of each kind, with realistic grants
- `web_shop`: a lakehouse with data in it, and pipelines that move it; `web_rows`: what is in it at first; `events_api`:
  the API that some of it comes from
- `furnishing`: what makes it look lived in, done by its people through the services; `told`: their words;
  `asked`: queries that they keep

Everything is made the same each time, and people are named by what they are.
"""
