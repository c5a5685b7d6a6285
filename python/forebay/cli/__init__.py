"""One file per subcommand: parse the line, call the use case, render what came of it."""
