"""The output API's gain over a gather to one rank and over collective calls."""
