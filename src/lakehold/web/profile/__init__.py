"""The caller's own profile, at `/profile`.

- `profile_page`: name, e-mail address, password, theme and sessions; the tabs of all profile pages
- `api_tokens`: the caller's API tokens, those of service accounts for who manages them, and creating one
"""
