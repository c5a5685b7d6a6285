#!/bin/bash
# The trial of a new user. Root installs (`make install`), and a user without root, to whom the
# checkout is unreadable, runs every command of every help page, with right and wrong arguments,
# opens the manual and presses the tab key. What is tried is in tests/trial/.
# Usage: tests/trial.sh [BUILD]  (a build other than build/release is only installed from)
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$PWD
place=$(mktemp -d)
chmod 755 "$place"
mode=$(stat -c %a "$checkout")
# Examples of `forebay pool start` leave a daemon.
trap 'chmod "$mode" "$checkout"; pkill -f "^$place/forebay/" || true; rm -rf "$place"' EXIT
umask 077  # a careful root's
if (($#)); then
    (umask 022 && cmake --install "$1" --prefix "$place/first") > "$place/log" \
        || { cat "$place/log"; exit 1; }
else
    make install PREFIX="$place/first" > "$place/log" || { cat "$place/log"; exit 1; }
fi
mv "$place/first" "$place/forebay"  # nothing may know where it was
cp -r tests/trial "$place/trial"
mkdir "$place/home"
user=(env)
if ((EUID == 0)); then
    chmod -R a+rX "$place/trial"
    chown nobody "$place/home"
    chmod 700 "$checkout"
    user=(runuser -u nobody -- env)
fi
cd "$place/home"
"${user[@]}" -i HOME="$place/home" LANG=C.UTF-8 TERM=dumb \
    PATH="$place/forebay/bin:/usr/local/bin:/usr/bin:/bin" \
    python3 "$place/trial/trial.py" "$place/forebay"
