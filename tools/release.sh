#!/bin/bash
# Says whether this commit can be released, and with --tag makes the tag. RELEASING.md has what is
# done before and after. Nothing is pushed.
# Usage: tools/release.sh [--tag] [--tests "COMMAND"]   (the tests: "make test-all")
set -euo pipefail
cd "$(dirname "$0")/.."
tag=
tests='make test-all'
while (($# > 0)); do
    case $1 in
        --tag) tag=yes ;;
        --tests) tests=${2:?"--tests needs a command"} && shift ;;
        *) sed -n 's/^# //p' "$0" | head -3 >&2 && exit 2 ;;
    esac
    shift
done
failed=0

say() {  # say STATUS TEXT
    if (($1 == 0)); then echo "fine: $2"; else echo "NOT: $2" && failed=1; fi
}

check() {  # check TEXT COMMAND…: whether it succeeds; else with what it says
    local said status=0
    said=$("${@:2}" 2>&1) || status=$?
    say "$status" "$1"
    if ((status != 0)) && [[ $said ]]; then tail -20 <<< "$said"; fi
}

is_clean() { [[ -z $(git status --porcelain) ]] || { git status --short && false; }; }

has_a_date() {  # the newest heading of the changelog: version and today's date, or an earlier one
    local heading date=
    heading=$(grep -m 1 '^## ' CHANGELOG.md)
    if [[ $heading =~ ^"## $version ("([0-9]{4}-[0-9]{2}-[0-9]{2})")"$ ]]; then
        date=${BASH_REMATCH[1]}
    fi
    if [[ -z $date ]]; then
        echo "it begins with \"$heading\". Write \"## $version ($(date -u +%F))\"."
        return 1
    fi
    [[ ! $date > $(date -u +%F) ]] || { echo "$date is to come." && return 1; }
}

is_newer() {  # than every tag
    local last
    last=$(git tag --list 'v*' | sed 's/^v//' | sort -V | tail -1)
    [[ -z $last || $last == "$version" || $(printf '%s\n' "$last" "$version" | sort -V | tail -1) \
        == "$version" ]] || { echo "there is v$last already." && return 1; }
}

has_no_tag() { ! git rev-parse -q --verify "refs/tags/v$version" > /dev/null; }

has_an_address() {  # of the project and of who looks after it, in packages and recipes
    local found
    found=$(git grep -nE 'forebay@localhost|https://forebay\.invalid' -- packaging) || return 0
    echo "$found"
    echo "these stand for addresses. Write those of the project."
    return 1
}

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/forebay/__init__.py)
python=python3
if [[ -x .venv/bin/python ]]; then python=.venv/bin/python; fi
echo "version $version at $(git rev-parse --short HEAD)"
check "nothing in the tree is not committed" is_clean
check "the version is said once, and repeated rightly" \
    env PYTHONPATH=tools "$python" -m checks.version
check "CHANGELOG.md has this version's date" has_a_date
check "the version is newer than all tags" is_newer
check "there is no tag v$version yet" has_no_tag
check "packages and recipes have the project's addresses" has_an_address
if ((failed)); then
    echo "Not to be released. RELEASING.md says what to do; the tests have not been run."
    exit 1
fi
check "$tests" bash -c "$tests"
if ((failed)); then exit 1; fi
if [[ $tag ]]; then
    git tag -a "v$version" -m "Forebay $version"
    echo "made the tag v$version. Now push it: git push origin v$version"
else
    echo "ready: tools/release.sh --tag runs the tests again and makes the tag v$version."
fi
