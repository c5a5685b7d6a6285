"""`forebay probe`: what a file system likes, measured or modelled."""
