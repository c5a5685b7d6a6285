"""`forebay layout`: shows and sets how a file lies over storage targets."""
