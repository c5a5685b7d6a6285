#!/bin/bash
# Configures and builds one preset in build/<preset>.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
configured=build/$preset/configured
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured ]]; then
    cmake --preset "$preset" -Wno-dev > "/tmp/forebay-configure-$$" \
        || { cat "/tmp/forebay-configure-$$"; exit 1; }
    rm -f "/tmp/forebay-configure-$$"
    touch "$configured"
fi
# Ninja builds what it can; -k 0 shows every mistake at once in CI.
cmake --build "build/$preset" -- -k "${FOREBAY_KEEP_GOING:-1}" "${@:2}"
