"""`forebay verify`: whether advice helps."""
