"""The entry point of `python -m forebay`, and of `python FOLDER/forebay`, which the installed
launcher runs: it sets no PYTHONPATH, which the user's program would inherit."""

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from forebay.main import main

if __name__ == "__main__":
    main()
