#!/bin/bash
# The C and C++ files that clang-format keeps, one a line.
set -euo pipefail
cd "$(dirname "$0")/../.."
for folder in src benchmarks tests evaluation examples; do
    git ls-files --cached "$folder/*.cpp" "$folder/*.hpp" "$folder/*.c" "$folder/*.h"
done
