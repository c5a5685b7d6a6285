#!/bin/bash
# clang-tidy over src/, with the compile commands of the release build. CI asks for sizes, names and
# the quick checks; FOREBAY_TIDY_CHECKS= (empty) runs all of .clang-tidy, as `make lint` does: bugs,
# performance and the static analyser take four fifths of the time.
set -euo pipefail
cd "$(dirname "$0")/../.."
export FOREBAY_TIDY_CHECKS=${FOREBAY_TIDY_CHECKS--clang-analyzer-*,-bugprone-*,-performance-*}
PYTHONPATH=$PWD/tools python3 -m checks.tidy --build build/release
