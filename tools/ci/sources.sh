#!/bin/bash
# Lists the C and C++ files that clang-format checks, one per line.
set -euo pipefail
cd "$(dirname "$0")/../.."
for folder in src benchmarks tests evaluation examples; do
    git ls-files --cached "$folder/*.cpp" "$folder/*.hpp" "$folder/*.c" "$folder/*.h"
done
