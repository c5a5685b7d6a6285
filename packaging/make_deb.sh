#!/bin/bash
# Debian packages of this tree, in FOLDER (dist): forebay, forebay-mpich and forebay-openmpi. Needs
# what packaging/debian/control lists under Build-Depends. A version that CHANGELOG.md has no date
# for is less than the one that will be released.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-dist}"
folder=$(realpath "${1:-dist}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/forebay/__init__.py)
heading=$(grep -m 1 "^## $version " CHANGELOG.md)
suite=unstable
date=$(LC_ALL=C date -R -u -d "$(sed -n 's/.*(\([0-9-]\{10\}\))$/\1/p' <<< "$heading")")
if [[ $heading == *'not released yet'* ]]; then
    version+='~dev'
    suite=UNRELEASED
fi
tree=$scratch/forebay-$version
mkdir "$tree"
git ls-files -z | tar --null -T - -c | tar -x -C "$tree"
cp -r packaging/debian "$tree"
cat > "$tree/debian/changelog" <<EOF
forebay ($version) $suite; urgency=medium

  * See CHANGELOG.md.

 -- The Forebay authors <forebay@localhost>  $date
EOF
(cd "$tree" && dpkg-buildpackage -b -us -uc)
rm -f "$folder"/forebay*.deb
cp "$scratch"/forebay*.deb "$scratch"/forebay*.changes "$scratch"/forebay*.buildinfo "$folder"
