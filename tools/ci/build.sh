#!/bin/bash
# Configures and builds one preset in build/<preset>. Where Debian packages came or went since then,
# it is configured anew: what was not found may be there now.
# Where ccache has nothing to offer, a new tree precompiles common headers and compiles a layer as
# one source: half the time. What is changed then takes longer, and ccache keeps nothing of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
configured=build/$preset/configured
mapfile -t names < <(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' apt-packages.txt)
shown=$(dpkg-query -W -f '${Package} ${Version} ${Status}\n' "${names[@]}" 2>/dev/null || true)
packages=$(sed -n '/ installed$/p' <<< "$shown" | sort | sha256sum)
at_once=()
if [[ ! -f build/$preset/CMakeCache.txt ]]; then
    cached=$(ccache --print-stats 2>/dev/null | sed -n 's/^files_in_cache\t//p' || true)
    if ((${cached:-0} < 100)); then at_once=(-DFOREBAY_PRECOMPILED=ON -DFOREBAY_UNITY=ON); fi
fi
fresh=()
if [[ -f $configured && $(<"$configured") != "$packages" ]]; then fresh=(--fresh); fi
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured ]] \
    || ((${#fresh[@]} > 0)); then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cmake --preset "$preset" -Wno-dev "${fresh[@]}" "${at_once[@]}" > "$log" \
        || { cat "$log"; exit 1; }
    echo "$packages" > "$configured"
fi
# Ninja builds what it can; -k 0 shows every mistake at once in CI.
cmake --build "build/$preset" -- -k "${FOREBAY_KEEP_GOING:-1}" "${@:2}"
