#!/bin/bash
# Installs the missing ones of the Debian packages in apt-packages.txt that a purpose needs (build,
# demo, test, all or cephfs). Does not run apt if none is missing. Where there is no apt, says what
# a build lacks (rpm_packages.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
purpose=${1:-build}

case $purpose in
    build) wanted='build' ;;
    demo) wanted='build|demo' ;;
    test) wanted='build|demo|test' ;;
    all) wanted='build|demo|test|all' ;;
    cephfs) wanted='build|demo|test|all|cephfs' ;;
    *)
        echo "unknown purpose $purpose (known: build, demo, test, all, cephfs). Name one." >&2
        exit 2
        ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    exec tools/ci/rpm_packages.sh
fi
missing=()
while read -r name first _; do
    if [[ $name != '#'* && $first =~ ^($wanted)$ ]] \
        && ! dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed'; then
        missing+=("$name")
    fi
done < apt-packages.txt

if ((${#missing[@]} == 0)); then
    exit 0
fi
as_root=()
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "cannot install ${missing[*]} (neither root nor sudo). Have them installed." >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
