"""The parts that every feature uses: errors, units, records, files, options."""
