#!/bin/bash
# Runs the storms (tests/storm) with the release build: writers and daemons are killed, suspended
# and stopped at random moments, and disks lose power; acknowledged writes have to be in the files.
# Usage: storm.sh [--rounds N] [--seed S] [--kind KIND…] [--again SEED] [--keep]
set -euo pipefail
cd "$(dirname "$0")/../.."
PYTHONPATH=tests:python:.:tools PYTHONDONTWRITEBYTECODE=1 exec .venv/bin/python -m storm "$@"
