"""Reports of `forebay doctor`."""
