"""`forebay simulate`: runs experiments on simulated machines."""
