"""Renders the report: text, JSON, the HTML page and its pictures."""
