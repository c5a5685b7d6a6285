"""What daemons and their messages say, as values. Pure."""
