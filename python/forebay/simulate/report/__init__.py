"""What is printed of simulated pools and of independent calls."""
