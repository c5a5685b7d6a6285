"""`forebay settings`: lists all settings, and where their values come from."""
