"""`python -m evaluation`, from the root of the repository."""

from evaluation.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
