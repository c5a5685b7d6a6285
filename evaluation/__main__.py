"""The entry point of `python -m evaluation`, which is run from the root of the repository."""

from evaluation.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
