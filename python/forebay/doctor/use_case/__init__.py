"""The use cases of `forebay doctor`."""
