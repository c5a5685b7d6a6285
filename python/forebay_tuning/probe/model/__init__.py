"""The choice of the next probe: fits, beliefs, the search. Pure, with numpy."""
