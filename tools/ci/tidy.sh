#!/bin/bash
# clang-tidy over src/, with the compile commands of the dev build.
set -euo pipefail
cd "$(dirname "$0")/../.."
PYTHONPATH=$PWD/tools python3 -m checks.tidy --build build/dev
