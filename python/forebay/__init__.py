"""Forebay: a pool in front of the parallel file system. This package is the `forebay` command."""

__version__ = "0.1.0"
