"""tier_ledger.py FOLDER LEDGER SEED [synced]: writes files one after another, and a line to a log
after each, for ever; `synced`: each is synced, not only every other one. After each close that came
back without an error, a line of JSON in LEDGER says what is to be found: so many random bytes of a
seed, and so many lines in the log."""

import json
import os
import random
import sys
from pathlib import Path

folder, ledger, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) * 100_000
all_synced = sys.argv[4:] == ["synced"]
choose = random.Random(seed)
with ledger.open("a", buffering=1) as book:
    while True:
        seed += 1
        count = choose.randrange(300_000)
        content = random.Random(seed).randbytes(count)
        with (folder / f"file{seed}").open("wb", buffering=0) as file:
            for at in range(0, count, 65_536):
                file.write(content[at : at + 65_536])
            if choose.randrange(2) or all_synced:
                os.fsync(file.fileno())
        with (folder / "log").open("ab", buffering=0) as log:
            log.write(f"{seed}\n".encode())
        book.write(json.dumps({"name": f"file{seed}", "seed": seed, "bytes": count}) + "\n")
