"""Output that all commands share: text, JSON, and the base of their HTML pages."""
