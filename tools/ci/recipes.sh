#!/bin/bash
# Has conda's and EasyBuild's own tools read the recipes for them (packaging/check_recipes.py). The
# tools come from PyPI, and stay in build/recipes.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
source tools/ci/expect.sh
tools() {
    [[ -x build/recipes/bin/eb ]] || python3 -m venv build/recipes
    build/recipes/bin/python -m pip --disable-pip-version-check --quiet install \
        easybuild==5.4.1 py-rattler-build==0.73.0 pycodestyle==2.14.0
}
expect "conda's and EasyBuild's tools" tools
expect "the recipes" build/recipes/bin/python packaging/check_recipes.py
echo "$passed passed, 0 failed"
