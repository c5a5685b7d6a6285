#!/bin/bash
# Builds one preset and runs its unit tests. Usage: unit.sh PRESET [all | others]
# Without a second word it skips tests labelled `rest`: five in six shards of the engine's and the
# pool's tests, and some pairs of MPI and ranks. With "others" it skips only the remaining sixth of
# the shards, labelled `sixth`. Both skip seven in ten seeds (docs/testing.md).
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-dev}
tools/ci/build.sh "$preset"
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}
chosen=()
case ${2:-} in
    all) ;;
    others) chosen=(-LE '^sixth$') ;;
    *) chosen=(-LE '^rest$') ;;
esac
if [[ ${2:-} != all ]]; then
    # Both parts need the same filter: a shard counts the tests that are left.
    skipped=$(printf ':%s' {Seeds,World}/'*'{1,2,3,5,6,7,9})
    export GTEST_FILTER="-${skipped#:}"
fi
results=()
if [[ -n ${FOREBAY_RESULTS:-} ]]; then
    # Keep the whole output: tools/ci/results.py counts the cases in it.
    results=(--output-junit "$FOREBAY_RESULTS/$preset.xml")
    results+=(--test-output-size-passed 100000000 --test-output-size-failed 100000000)
fi
ctest --preset "$preset" --no-tests=error "${chosen[@]}" "${results[@]}"
