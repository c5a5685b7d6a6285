#!/bin/bash
# `cmake --install` gives a tree that works where it is put: the launcher finds package and
# libraries, wherever the tree is moved.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "${FOREBAY_BUILD:-build/release}" --prefix "$prefix/first" > "$prefix/log" \
    || { cat "$prefix/log"; exit 1; }
mv "$prefix/first" "$prefix/moved"
if [[ -d src/entry/preload ]]; then
    ls "$prefix/moved/lib/forebay/libforebay_mpi.so"
fi
if [[ -f python/launcher/forebay.in ]]; then
    PATH=$PWD/.venv/bin:$PATH "$prefix/moved/bin/forebay" --help > /dev/null
fi
