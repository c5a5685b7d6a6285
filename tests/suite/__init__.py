"""The integration tests: unmodified MPI programs with and without Forebay."""
