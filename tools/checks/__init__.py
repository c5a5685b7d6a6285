"""Checks of the house rules, each a small program: PYTHONPATH=tools python3 -m checks.<name>.

A check prints each finding as *problem (why). What to do next.* and exits with 1, or prints one
line that says how much it looked at and exits with 0. STYLE.md says which check enforces a rule.
"""
