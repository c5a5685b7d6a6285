"""The entry point of `python -m forebay`, and of `python FOLDER/forebay`, which the installed
launcher runs: it sets no PYTHONPATH, which the user's program would inherit."""

import os
import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])
elif sys.path[0] not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    # -m put the user's folder there. It may have modules that are called as others of ours, and be
    # a mount that dies, after which no module could be imported from anywhere.
    del sys.path[0]

from forebay.main import main

if __name__ == "__main__":
    main()
