"""The model of settings."""
