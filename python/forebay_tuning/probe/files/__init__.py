"""Portraits, platforms and journals on disk; the system that is measured by forebay-ior."""
