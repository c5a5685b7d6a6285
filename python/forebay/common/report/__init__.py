"""How all commands print, and the page that theirs are made from."""
