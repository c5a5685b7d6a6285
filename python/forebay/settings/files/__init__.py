"""The table of settings, and files of settings."""
