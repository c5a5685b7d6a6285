#!/bin/bash
# clang-tidy over src/, with the compile commands of the dev build. The static analyser takes more
# than half of the time; FOREBAY_TIDY_CHECKS= (empty) runs it, too, as `make lint` does.
set -euo pipefail
cd "$(dirname "$0")/../.."
export FOREBAY_TIDY_CHECKS=${FOREBAY_TIDY_CHECKS--clang-analyzer-*}
PYTHONPATH=$PWD/tools python3 -m checks.tidy --build build/dev
