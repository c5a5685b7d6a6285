"""The model of `forebay doctor`."""
