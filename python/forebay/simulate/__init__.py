"""`forebay simulate`: experiments on simulated machines."""
