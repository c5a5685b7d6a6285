#!/bin/bash
# MPI programs with and without Forebay, and what goes wrong around them.
#
#   tests/run_all.sh [--list | PATTERN…]    only the tests whose name matches a pattern
#   FOREBAY_LIBDIR     the libraries to test (build/release/lib)
#   FOREBAY_TEST_DIR   where tests build and run (build/tests)
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r name _; do
    if [[ $name != '#'* && -n $name ]] \
        && ! dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed'; then
        missing+=("$name")
    fi
done < tests/apt-packages.txt
if ((${#missing[@]} > 0)); then
    as_root=()
    if ((EUID != 0)); then as_root=(sudo); fi
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" > /dev/null \
        || echo "cannot install ${missing[*]}. The tests that need them will fail." >&2
fi
# Debian's Python: Debian's mpi4py and h5py belong to it.
PYTHONPATH=tests:$PWD PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m suite "$@"
