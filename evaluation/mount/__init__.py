"""The mount's cost for programs, and their gain by it."""
