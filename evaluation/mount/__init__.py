"""What the mount costs programs, and what they gain by it."""
