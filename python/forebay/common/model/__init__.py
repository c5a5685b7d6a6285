"""Shared values: errors, units, estimates, launchers, programs, records. Pure."""
