"""Storms: random writers, and what happens to them and to the daemon of their pool. A storm
compares the writes that were acknowledged, byte by byte, with the files.

    python -m storm [--rounds N] [--seed S] [--kind KIND…] [--keep]
    python -m storm --kind KIND --again SEED    one round, as a line of another storm names it

A round depends on its kind, its seed, and chance: processes go on as they like. One line is said
for each round that finds something, and one at the end. Exit status: 1 where anything was lost,
wrong, silent, or hung.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

from suite import mpi as m
from suite.verdict import Failed

from storm.field import Amiss, Field, NotHereError, built
from storm.rounds import KINDS

ROUNDS = 200
SHOWN = 12
MEMORY = Path("/dev/shm")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="storm", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_000)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), default=None)
    parser.add_argument("--again", type=int, default=None, help="the seed of one round")
    parser.add_argument("--keep", action="store_true", help="keep the folders of failed rounds")
    return parser.parse_args()


def _folder(kind: str, seed: int) -> Path:
    path = m.BUILD / "storm" / f"{kind}-{seed}"
    shutil.rmtree(path, ignore_errors=True)
    (path / "files").mkdir(parents=True)
    return path


def _round(kind: str, seed: int, program: Path, *, keep: bool) -> Amiss:
    """A round; its folder stays where something was found and is to be kept."""
    folder = _folder(kind, seed)
    field = Field(folder, folder / "files", random.Random(f"{kind} {seed}"), program)
    try:
        KINDS[kind].run(field)
    except Failed as failed:
        field.amiss.wrong += 1
        field.amiss.text.append(str(failed))
    finally:
        field.kill()
    if not (keep and field.amiss):
        shutil.rmtree(folder, ignore_errors=True)
    return field.amiss


def main() -> int:
    words = _words()
    draw = random.Random(words.seed)
    names = words.kind or list(KINDS)
    program = built(m.BUILD / "bin")
    print(f"storm: seed {words.seed}, {words.rounds} rounds of {', '.join(names)}", flush=True)
    sums: Counter[str] = Counter()
    begin = time.monotonic()
    for _ in range(words.rounds if words.again is None else 1):
        (kind,) = draw.choices(names, [KINDS[name].share for name in names])
        seed = draw.randrange(1_000_000_000) if words.again is None else words.again
        try:
            amiss = _round(kind, seed, program, keep=words.keep)
        except NotHereError as error:
            print(f"{kind} {seed}: left out ({error})", flush=True)
            sums["left out"] += 1
            continue
        sums["rounds"] += 1
        sums["failed"] += bool(amiss)
        for name in ("calls", "captured", "lost", "wrong", "hangs", "silent", "told"):
            sums[name] += getattr(amiss, name)
        if amiss:
            print(
                f"{kind} {seed}: {amiss.lost} bytes lost, {amiss.wrong} wrong, {amiss.hangs} hang, "
                f"{amiss.silent} silent of {amiss.calls} calls"
            )
            print("\n".join(f"    {line}" for line in amiss.text[:SHOWN]))
            print("\n".join(f"    | {line}" for line in amiss.notes.splitlines()), flush=True)
    print(
        f"storm: {sums['rounds']} rounds, {sums['left out']} left out, {sums['calls']} calls, "
        f"{sums['captured']} captured descriptors below mounts, "
        f"{sums['lost']} bytes lost, {sums['wrong']} wrong, {sums['hangs']} hangs, "
        f"{sums['silent']} silent, {sums['told']} files told, "
        f"{sums['failed']} rounds failed (seed {words.seed}, "
        f"{time.monotonic() - begin:.0f} s)"
    )
    print(f"{sums['rounds'] - sums['failed']} passed, {sums['failed']} failed")
    return 1 if sums["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
