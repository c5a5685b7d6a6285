#!/bin/bash
# Runs all of tools/checks against build/release, then the formatters and Python's checkers.
# Usage: checks.sh [build directory]
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
export PYTHONPATH=$PWD/tools
python=python3
if [[ -x .venv/bin/python ]]; then python=.venv/bin/python; fi
names=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

count() {  # count NAME COMMAND…: runs two at a time; the output is printed at the end, in order
    local number=${#names[@]}
    names+=("$1")
    shift
    while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
    { "$@" > "$logs/$number" 2>&1; echo $? > "$logs/$number.status"; } &
}

for check in wrong headers layers purity kernel newer statics exports needed sizes docs names \
    words commits version; do
    count "$check" "$python" -m "checks.$check" --build "$build"
done

mapfile -t sources < <(tools/ci/sources.sh)
count "clang-format" clang-format-19 --dry-run -Werror "${sources[@]}"
mapfile -t scripts < <(find python -name '*.sh')  # programs that run on users' nodes
count "shellcheck" shellcheck "${scripts[@]}"

has() { [[ -x .venv/bin/$1 ]]; }
if has ruff; then
    count "ruff check" .venv/bin/ruff check .
    count "ruff format" .venv/bin/ruff format --check .
fi
if has mypy; then
    count "mypy" env MYPYPATH=tools:.:python:tests:examples/ocean \
        .venv/bin/mypy --strict -p checks -p ci -p suite -p storm -p evaluation \
        -p demo -p forebay -p forebay_output -p forebay_tuning
fi
if has lint-imports && grep -q '^\[tool.importlinter' pyproject.toml 2>/dev/null; then
    count "import-linter" env PYTHONPATH="$PWD/python" .venv/bin/lint-imports
fi
wait
passed=0
failed=0
for number in "${!names[@]}"; do
    echo "-- ${names[number]}"
    cat "$logs/$number"
    if [[ $(<"$logs/$number.status") == 0 ]]; then ((++passed)); else ((++failed)); fi
done
echo "$passed passed, $failed failed"
((failed == 0))
