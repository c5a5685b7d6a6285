"""Use cases over ports: what the commands do, in words of the domain."""
