#!/bin/bash
# Builds the release preset. It has no -Werror, since users build it with compilers that nobody has
# tried; here, a warning of the compiler fails the step.
set -euo pipefail
cd "$(dirname "$0")/../.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
tools/ci/build.sh release 2>&1 | tee "$log"
if grep -q ': warning: .*\[-W' "$log"; then
    echo "the compiler warns of something (above). Mend it: elsewhere it is an error." >&2
    exit 1
fi
