"""Facts that `forebay doctor` looks up, and the files that it writes."""
