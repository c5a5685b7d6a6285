"""Candidates, rules, the choice, and advice ready for use. Pure."""
