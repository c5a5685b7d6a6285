"""`forebay doctor`: what works on this machine."""
