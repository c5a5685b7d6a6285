#!/bin/bash
# Configures and builds one preset in build/<preset>. Where Debian packages came or went since then,
# it is configured anew: what was not found may be there now. What was compiled stays as long as it
# would be compiled in the same way, so cmake's --fresh, which takes objects away, is not used.
# Where ccache has nothing to offer, a new tree precompiles common headers and compiles a layer as
# one source: half the time. What is changed then takes longer, and ccache keeps nothing of it. A
# tree stays with the way it was made.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-release}
configured=build/$preset/configured
mapfile -t names < <(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' apt-packages.txt)
shown=$(dpkg-query -W -f '${Package} ${Version} ${Status}\n' "${names[@]}" 2>/dev/null || true)
packages=$(sed -n '/ installed$/p' <<< "$shown" | sort | sha256sum)
cache=build/$preset/CMakeCache.txt
at_once=()
if [[ -f $cache ]]; then
    mapfile -t at_once < <(sed -nE 's/^(FOREBAY_(PRECOMPILED|UNITY):BOOL=ON)$/-D\1/p' "$cache")
else
    cached=$(ccache --print-stats 2>/dev/null | sed -n 's/^files_in_cache\t//p' || true)
    if ((${cached:-0} < 100)); then
        at_once=(-DFOREBAY_PRECOMPILED:BOOL=ON -DFOREBAY_UNITY:BOOL=ON)
    fi
fi
anew=
if [[ -f $configured && $(<"$configured") != "$packages" ]]; then anew=1; fi
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured || $anew ]]; then
    if [[ $anew ]]; then rm -f "$cache"; fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cmake --preset "$preset" -Wno-dev "${at_once[@]}" > "$log" || { cat "$log"; exit 1; }
    echo "$packages" > "$configured"
fi
# Ninja builds what it can; -k 0 shows every mistake at once in CI.
cmake --build "build/$preset" -- -k "${FOREBAY_KEEP_GOING:-1}" "${@:2}"
