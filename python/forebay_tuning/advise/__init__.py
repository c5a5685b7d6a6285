"""`forebay advise`: recommends how a program should use a file system."""

SHORT_HELP = "Recommend settings for a program here."
