"""mpi4py's own tests, told one by one: mpi4py_case.py FOLDER TESTS [MODULE …], where TESTS is the
folder `test` of its source distribution. Without a module: its tests of files."""

import os
import sys
import unittest
from pathlib import Path

folder, tests = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, tests)
os.chdir(tests)
from mpi4py import MPI  # noqa: E402


class Told(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.lines = {}

    def startTest(self, test):  # noqa: N802
        super().startTest(test)
        self.lines[test.id()] = "ok"

    def addSkip(self, test, reason):  # noqa: N802
        super().addSkip(test, reason)
        self.lines[test.id()] = "skipped"

    def addFailure(self, test, err):  # noqa: N802
        super().addFailure(test, err)
        self.lines[test.id()] = f"failed {err[0].__name__}"
        sys.stderr.write(self.failures[-1][1])

    def addError(self, test, err):  # noqa: N802
        super().addError(test, err)
        self.lines[test.id()] = f"error {err[0].__name__}"
        sys.stderr.write(self.errors[-1][1])


told = Told()
unittest.defaultTestLoader.loadTestsFromNames(sys.argv[3:] or ["test_io", "test_file"]).run(told)
world = MPI.COMM_WORLD
all_lines = world.gather(told.lines, root=0)
if world.rank == 0:
    with (folder / "out.txt").open("w") as out:
        for name in all_lines[0]:
            for rank, lines in enumerate(all_lines):
                out.write(f"= {name} {rank}: {lines.get(name, 'not run')}\n")
            out.write(f"check {name}: ok\n")
        out.write("end\n")
