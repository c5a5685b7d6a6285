#!/bin/bash
# Runs clang-tidy on src/ with the compile commands of the release build. CI runs the quick checks
# only; with FOREBAY_TIDY_CHECKS= (empty), as in `make lint`, all of .clang-tidy is run: bugprone,
# performance and the static analyser take four fifths of the time.
set -euo pipefail
cd "$(dirname "$0")/../.."
export FOREBAY_TIDY_CHECKS=${FOREBAY_TIDY_CHECKS--clang-analyzer-*,-bugprone-*,-performance-*}
PYTHONPATH=$PWD/tools python3 -m checks.tidy --build build/release
