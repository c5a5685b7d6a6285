"""What the output API wins over a gather to one rank and over collective calls."""
