"""What every part of the command stands on: errors, units, facts, files, options."""
