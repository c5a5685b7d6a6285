#!/bin/bash
# Runs the storms (tests/storm) with the release build: writers and daemons are killed, suspended
# and stopped at random moments, and disks lose power; acknowledged writes have to be in the files.
# Usage: storm.sh [--rounds N] [--seed S] [--kind KIND…] [--again SEED] [--keep]
set -euo pipefail
cd "$(dirname "$0")/../.."
# A mount namespace that anybody makes has a copy of all mounts, which keeps them busy as long as it
# lives. Those of the storms are in one of their own, and end with it.
within=()
if unshare --mount true 2> /dev/null; then within=(unshare --mount); fi
export PYTHONPATH=tests:python:.:tools PYTHONDONTWRITEBYTECODE=1
exec "${within[@]}" .venv/bin/python -m storm "$@"
