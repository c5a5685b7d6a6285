"""Advice as text, page and pictures."""
