#!/bin/bash
# Every check of tools/checks against build/release, then the formatters and Python's checkers.
# Usage: checks.sh [build directory]
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
export PYTHONPATH=$PWD/tools
python=python3
if [[ -x .venv/bin/python ]]; then python=.venv/bin/python; fi
passed=0
failed=0

count() {  # count NAME COMMAND…
    local name=$1
    shift
    echo "-- $name"
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

for check in layers headers wrong purity kernel statics exports sizes docs; do
    count "$check" "$python" -m "checks.$check" --build "$build"
done

mapfile -t sources < <(tools/ci/sources.sh)
count "clang-format" clang-format-19 --dry-run -Werror "${sources[@]}"

has() { [[ -x .venv/bin/$1 ]]; }
if has ruff; then
    count "ruff check" .venv/bin/ruff check .
    count "ruff format" .venv/bin/ruff format --check .
fi
if has mypy; then
    count "mypy of the tools" env MYPYPATH=tools .venv/bin/mypy --strict -p checks -p ci
    count "mypy of the tests" env MYPYPATH=.:python:tests .venv/bin/mypy --strict -p suite
    if compgen -G 'python/forebay/*.py' >/dev/null; then
        count "mypy of the benchmark" env MYPYPATH=.:python .venv/bin/mypy --strict -p bench
        count "mypy of the package" env MYPYPATH=python .venv/bin/mypy --strict -p forebay
    fi
fi
if has lint-imports && grep -q '^\[tool.importlinter' pyproject.toml 2>/dev/null; then
    count "import-linter" env PYTHONPATH="$PWD/python" .venv/bin/lint-imports
fi
echo "$passed passed, $failed failed"
((failed == 0))
