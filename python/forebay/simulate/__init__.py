"""`forebay simulate`: runs experiments on simulated machines."""

SHORT_HELP = "Run the engine on a simulated machine."
