"""`python -m forebay`, and `python FOLDER/forebay`: the installed launcher runs the folder itself,
so that no PYTHONPATH of ours reaches the user's program."""

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from forebay.main import main

if __name__ == "__main__":
    main()
