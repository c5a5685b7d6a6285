"""The parts that every feature uses: errors, units, facts, files, options."""
