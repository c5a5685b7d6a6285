"""Reads Darshan logs."""
