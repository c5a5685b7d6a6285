"""Checks of the house rules, each a small program: PYTHONPATH=tools python3 -m checks.<name>.

A check prints what it found as *problem (why). What to do next.* and exits with 1, or prints one
line that says what was looked at and exits with 0. STYLE.md says which rule each one holds.
"""
