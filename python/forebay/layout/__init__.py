"""`forebay layout`: how a file lies over storage targets."""
