"""One benchmark, and pairs of them."""
