"""`python -m bench`, from the root of the repository."""

from bench.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
