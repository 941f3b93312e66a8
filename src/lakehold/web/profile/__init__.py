"""The caller's own profile, at `/profile`.

- `profile_page`: name, e-mail address, password and theme, and what their forms do
- `sign_ins`: the caller's sessions, and ending them
- `user_agent`: describes a browser by its User-Agent header
- `api_tokens`: the caller's API tokens, those of service accounts for who manages them, and creating one
- `profile_tabs`: the tabs that all of them share; these pages are not shown during impersonation
- `routers`: all routers of this package
"""
