"""`forebay probe`: measures a file system, or models one, and draws its portrait."""
