"""The tables of the seeds as flows: what a cell says is done over REST and on pages, not only decided.

- `acme`: a platform that is called without a network; `project`: the project of one row in it; `project_setup`: brings
  a project into the state that a row describes
- `rest`, `pages`: two clients that do the same; `people`: the same for members and the project itself
- `markup`: what a page offers, and why not
- `actions`: every action on a resource of each kind; `outcomes`: done, refused (403) or hidden (404)
- `space`: the data space of one seat; `space_rest`: a client over REST for what is done there

The cells of marts are in `tests.golden.marts_000`; nothing here asks the model what to expect.
"""
