"""Oneself, at `/profile`.

- `page`: the name, the e-mail address, the password and the theme, on one page
- `names`, `passwords`: what its forms do
- `sign_ins`: where one is signed in, and how to end that; `devices`: which browser it was, in words
- `tokens`: one's API tokens, and those of service accounts for who keeps them; `new_tokens`: how one is made
- `own`: what all of them share: the tabs, and that these pages are seen with one's own eyes only
"""
