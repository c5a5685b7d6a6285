"""`forebay layout`: shows and sets how a file lies over storage targets."""

SHORT_HELP = "Show and choose how files lie over targets."
