"""`forebay settings`: lists all settings, and where their values come from."""

SHORT_HELP = "List all settings."
