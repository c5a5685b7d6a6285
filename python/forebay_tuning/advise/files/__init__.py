"""Advice and rules on disk."""
