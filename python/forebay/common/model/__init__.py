"""Values: errors, units, estimates; launchers, programs, records. Pure."""
