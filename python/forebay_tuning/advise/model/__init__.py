"""The candidates, the rules, the choice among them, and advice ready for use. Pure."""
