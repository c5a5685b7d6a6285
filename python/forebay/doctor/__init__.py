"""`forebay doctor`: checks what works on this machine."""

SHORT_HELP = "Check what works on this machine."
