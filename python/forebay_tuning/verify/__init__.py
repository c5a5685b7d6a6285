"""`forebay verify`: tests whether advice helps."""

SHORT_HELP = "Prove that advice helps, by pairs of runs."
