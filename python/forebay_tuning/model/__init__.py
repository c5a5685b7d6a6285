"""Values that all tuning commands share: points, samples, portraits, evidence. Pure."""
