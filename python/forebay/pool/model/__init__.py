"""Daemons' documents and messages, as values. Pure."""
