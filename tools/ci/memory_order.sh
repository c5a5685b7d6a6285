#!/bin/bash
# Runs models of the pool's lock-free protocols (tests/memory_order) by loom, in all orders that the
# language allows. Needs crates.io the first time; what is built stays in build/memory_order.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/packages.sh all
export CARGO_TARGET_DIR=$PWD/build/memory_order
cargo test --locked --quiet --manifest-path tests/memory_order/Cargo.toml \
    | sed 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed;.*/\1 passed, \2 failed/'
