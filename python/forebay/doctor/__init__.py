"""`forebay doctor`: checks what works on this machine."""
