"""`forebay verify`: tests whether advice helps."""
