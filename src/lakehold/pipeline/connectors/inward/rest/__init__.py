"""APIs by HTTP that answer in JSON.

- `rest`: the connector; `settings`: an API, its endpoints, how they page and what they may cost
- `auth`: how we show who we are; `client`: one request, until it is answered; `waiting`: how long until the next
- `paging`: request after request, until there are no more; `source`: the same as a data source of Spark's
"""
