#!/bin/bash
# Configures and builds one preset in build/<preset>. Where Debian packages came or went since then,
# it is configured anew: what was not found may be there now.
# Where ccache has nothing to offer, a new tree precompiles common headers: a quarter less time with
# GCC, half of it with clang, but ccache keeps nothing of what is made with them.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
configured=build/$preset/configured
mapfile -t names < <(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' apt-packages.txt)
shown=$(dpkg-query -W -f '${Package} ${Version} ${Status}\n' "${names[@]}" 2>/dev/null || true)
packages=$(sed -n '/ installed$/p' <<< "$shown" | sort | sha256sum)
precompiled=()
if [[ ! -f build/$preset/CMakeCache.txt ]]; then
    cached=$(ccache --print-stats 2>/dev/null | sed -n 's/^files_in_cache\t//p' || true)
    if ((${cached:-0} < 100)); then precompiled=(-DFOREBAY_PRECOMPILED=ON); fi
fi
fresh=()
if [[ -f $configured && $(<"$configured") != "$packages" ]]; then fresh=(--fresh); fi
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured ]] \
    || ((${#fresh[@]} > 0)); then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cmake --preset "$preset" -Wno-dev "${fresh[@]}" "${precompiled[@]}" > "$log" \
        || { cat "$log"; exit 1; }
    echo "$packages" > "$configured"
fi
# Ninja builds what it can; -k 0 shows every mistake at once in CI.
cmake --build "build/$preset" -- -k "${FOREBAY_KEEP_GOING:-1}" "${@:2}"
