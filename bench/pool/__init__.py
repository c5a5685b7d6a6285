"""What a program gains by the pool; see bench/pool/__main__.py."""
