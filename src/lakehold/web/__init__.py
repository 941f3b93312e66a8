"""The web app: pages made in the server, thin over the same services as REST.

- `shell`: puts the web app onto the application; `routes`: the router for pages, with CSRF and error pages built in
- `pages`: a template and its values as a response; `templates`: the environment, and `ui`, the macros by name
- `navigation`, `listing`, `actions`, `access`, `marks`: what pages hand to macros
- `csp`, `csrf`, `cookies`: one policy each; `flashes`: what is said after an action; `theme`: light or dark
- `confirming`: are you sure?, with and without a script; `finding`: what the command palette searches
- `errors`: refusals as pages a person can read
- `patterns`: `/ui/patterns`, every macro in every state
- `assets`: the built files by name; `build`: builds them from `front` and from npm packages

How a page is written is told in `docs/web.md`.
"""
