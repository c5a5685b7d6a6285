#!/bin/bash
# Configures and builds one preset in build/<preset>. If Debian packages were installed or removed
# since it was configured, it is configured again, since CMake caches what it did not find. Objects
# are kept where their command lines are the same, so this does not use cmake --fresh, which deletes
# them. If ccache is empty, a new tree uses precompiled headers and unity builds: that halves the
# first build, but later changes compile longer, and ccache cannot help. A tree keeps its mode.
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
# MPIs that the environment names count for a tree that was configured without them, too. A later
# build without these variables keeps them.
for name in FOREBAY_MPICC FOREBAY_MPI; do
    if [[ -n ${!name:-} && -f $cache ]] && ! grep -qxF "$name:STRING=${!name}" "$cache"; then
        anew=1
    fi
done
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt $configured || $anew ]]; then
    if [[ $anew ]]; then rm -f "$cache"; fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cmake --preset "$preset" -Wno-dev "${at_once[@]}" > "$log" || { cat "$log"; exit 1; }
    echo "$packages" > "$configured"
fi
# -k 0 (CI) makes Ninja go on after an error, so that all errors are seen at once.
cmake --build "build/$preset" -- -k "${FOREBAY_KEEP_GOING:-1}" "${@:2}"
