"""The report's page and pictures."""
