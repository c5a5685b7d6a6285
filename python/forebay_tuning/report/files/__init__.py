"""Darshan logs."""
