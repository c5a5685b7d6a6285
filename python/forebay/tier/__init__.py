"""`forebay tier`: files in fast storage while they are hot, under their own names."""

SHORT_HELP = "Keep hot files in fast storage, under their names."
