"""Points, samples, portraits, evidence: what all commands of tuning share. Pure."""
