"""`python3 -m suite [PATTERN…]`: every test, or those that match."""

from __future__ import annotations

import sys

from suite import (
    bench_tools,
    cephfs,
    clients,
    edges,
    faults,
    ior,
    ior_faults,
    ior_reference,
    programs,
    striping,
)
from suite.mpi import BUILD
from suite.runner import Runner


def main(arguments: list[str]) -> int:
    tests = [
        *programs.tests(),
        *faults.tests(),
        *edges.tests(),
        *striping.tests(),
        *cephfs.tests(),
        *clients.tests(),
        *ior_reference.tests(),
        *ior.tests(),
        *ior_faults.tests(),
        *bench_tools.tests(),
    ]
    if arguments == ["--list"]:
        print("\n".join(test.name for test in tests))
        return 0
    return Runner(work=BUILD / "work").run(tests, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
