#!/bin/bash
# Runs every fuzzer for FOREBAY_FUZZ_SECONDS (60), two at a time. Inputs that crash are left in
# build/fuzz/found. An input may take 100 s: make test-all has the fuzzers wait for other tests.
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${FOREBAY_FUZZ_SECONDS:-60}
tools/ci/build.sh fuzz || exit 1
shopt -s nullglob
fuzzers=(build/fuzz/fuzz/*_fuzz)
if ((${#fuzzers[@]} == 0)); then
    echo "no fuzzer yet"
    exit 0
fi
mkdir -p build/fuzz/found build/fuzz/logs
printf '%s\n' "${fuzzers[@]}" | xargs -P 2 -I{} bash -c '
    name=$(basename "$1")
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    timeout -k 10 $(($2 + 120)) "$1" -max_total_time="$2" -timeout=100 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" \
        "$corpus" "tests/fuzz/$name" > "build/fuzz/logs/$name" 2>&1
    echo $? > "build/fuzz/logs/$name.status"' _ {} "$seconds"
passed=0
failed=0
for fuzzer in "${fuzzers[@]}"; do
    name=$(basename "$fuzzer")
    if [[ $(<"build/fuzz/logs/$name.status") == 0 ]]; then
        passed=$((passed + 1))
        echo "$name: $(grep -o 'number_of_executed_units: .*' "build/fuzz/logs/$name")"
    else
        failed=$((failed + 1))
        tail -40 "build/fuzz/logs/$name"
    fi
done
echo "$passed passed, $failed failed"
((failed == 0))
