# A function that runs and counts commands, to `source` in a step. Needs $prefix, a folder for logs.
passed=0

expect() {  # expect WHAT COMMAND…
    local what=$1
    shift
    if ! "$@" > "$prefix/log" 2>&1; then
        cat "$prefix/log"
        echo "$what failed ($*). See above."
        echo "$passed passed, 1 failed"
        exit 1
    fi
    passed=$((passed + 1))
}
