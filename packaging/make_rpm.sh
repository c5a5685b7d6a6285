#!/bin/bash
# The rpm of this tree, and its source rpm, in FOLDER (dist). Needs rpmbuild and what
# packaging/rpm/forebay.spec requires; words after FOLDER go to rpmbuild.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-dist}"
folder=$(realpath "${1:-dist}")
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/forebay/__init__.py)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/SOURCES"
git ls-files -z | tar --null -T - --transform "s,^,forebay-$version/," -czf \
    "$scratch/SOURCES/forebay-$version.tar.gz"
rpmbuild --define "_topdir $scratch" -ba packaging/rpm/forebay.spec "${@:2}"
rm -f "$folder"/forebay-*.rpm
cp "$scratch"/RPMS/*/*.rpm "$scratch"/SRPMS/*.rpm "$folder"
