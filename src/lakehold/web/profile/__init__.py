"""The caller's own profile, at `/profile`.

- `profile_page`: name, e-mail address, password and theme, and what their forms do; the tabs of all profile pages
- `sign_ins`: the caller's sessions, and ending them
- `api_tokens`: the caller's API tokens, those of service accounts for who manages them, and creating one
"""
