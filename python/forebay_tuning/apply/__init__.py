"""`forebay apply`: runs a program with the advised settings."""

SHORT_HELP = "Run a program with the advised settings."
