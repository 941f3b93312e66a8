"""The tables of the marts seeds as flows: what a cell says is done over REST and on pages, not only decided.

- `town`: an installation that is called without a network; `place`: the project of one row in it, with its facts
- `rest`, `pages`: two ways to do the same things; `markup`: what a page offers, and why not
- `acts`: all that can be done with a thing of each kind, and how it came out: done, refused (403) or hidden (404)

What the cells say is in `tests.golden.marts_000`; nothing here asks the model what to expect.
"""
