"""The demo: an unmodified ocean model with and without Forebay, side by side.

Run by `make demo` (`python -m demo`): builds examples/ocean, runs it in interleaved pairs,
compares the files byte by byte and leaves a table, two pictures and a page.
"""
