"""Advice and rules as files."""
