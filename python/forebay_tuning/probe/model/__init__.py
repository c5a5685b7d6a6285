"""Which point is tried next: fits, beliefs, the search. Pure, with numpy."""
