"""Files, programs and processes of this machine."""
