"""`forebay settings`: what can be set, and where a value comes from."""
