#!/bin/bash
# Installs the wheel that wheel.sh has left in build/dist in Debian 11, 12 and 13 (glibc 2.31, 2.36
# and 2.41; Python 3.9, 3.11 and 3.13) with nothing but Python and its two MPIs, by pip, and uses it
# there. Then a user without root types the first block of README.md, with a program in C and one in
# Python: the first sentence has to be there within 60 s, and a run through the pool within 300 s.
# Needs root and the network. Takes names of Debians; FOREBAY_ROOTS names a folder where
# these are kept for the next time. In what `expect` runs, set -e does not count.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ${1:-} != inside ]]; then
    tools/ci/packages.sh all
    exec unshare --mount "$0" inside "$@"  # what is mounted here ends with this
fi
shift
suites=("$@")
if ((${#suites[@]} == 0)); then suites=(bullseye bookworm trixie); fi
prefix=$(mktemp -d)
roots=$(realpath -m "${FOREBAY_ROOTS:-$prefix/roots}")
trap 'umount "$roots"/*/{proc,sys,dev/shm} 2>/dev/null || true
    rm -rf --one-file-system "$prefix"' EXIT
source tools/ci/expect.sh

system() {  # system SUITE: a new Debian, or the one of the last time, and the wheel in it
    local root=$roots/$1
    if [[ ! -e $root/complete ]]; then
        mkdir -p "$root"
        debootstrap --variant=minbase \
            --include=ca-certificates,mpich,openmpi-bin,python3,python3-venv "$1" "$root" \
            && touch "$root/complete" || return 1
    fi
    mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" \
        && mount -t tmpfs tmpfs "$root/dev/shm" || return 1
    echo "127.0.0.1 localhost $(hostname)" > "$root/etc/hosts"
    cp /etc/resolv.conf "$root/etc" \
        && cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs" || return 1
    rm -rf "$root"/{user,venv}
    mkdir "$root/user" && cp build/dist/forebay-*.whl "$root/user"
}

typed_by() {  # typed_by IDS SUITE FOLDER COMMAND…: who has activated the environment
    timeout 600 chroot --userspec="$1" "$roots/$2" /usr/bin/env -i -C "$3" HOME=/user \
        LC_ALL=C.UTF-8 PATH=/venv/bin:/usr/bin:/bin \
        PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
        ${https_proxy:+"https_proxy=$https_proxy"} "${@:4}"
}

in_system() {  # in_system SUITE COMMAND…
    typed_by 0:0 "$1" /user "${@:2}"
}

installs() {  # installs SUITE
    in_system "$1" python3 -m venv /venv && in_system "$1" /bin/sh -c \
        'pip --disable-pip-version-check install /user/forebay-*.whl'
}

runs_with_mpi() {  # runs_with_mpi SUITE FAMILY: the core carries out both ranks' collective calls
    local words=()
    if [[ $2 == openmpi ]]; then words=(--allow-run-as-root --oversubscribe); fi
    rm -f "$roots/$1/user/record"
    # shellcheck disable=SC2016  # a shell of the system replaces it
    in_system "$1" /bin/sh -c 'family=$1 && shift && forebay run --record /user/record -- "$@" \
        /venv/lib/python3.*/site-packages/forebay/lib/"$family"/forebay-ior \
        -a MPIIO -c -w -r -R -k -t 64k -b 256k -o /user/file' \
        sh "$2" "mpiexec.$2" "${words[@]}" -n 2 \
        && python3 - "$roots/$1/user/record" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
files = [line for line in lines if line["kind"] == "file"]
for way in "write", "read":
    assert sum(file[way]["calls"] for file in files) == 4, files
END
}

runs_with_the_pool() {  # runs_with_the_pool SUITE: the bytes arrive, and went through the pool
    mkdir "$roots/$1/user/pooled"
    in_system "$1" forebay run --pool /user/pooled --format json --summary /user/summary -- \
        python3 -c 'open("/user/pooled/file", "wb").write(bytes(range(256)) * 40000)' \
        && python3 - "$roots/$1/user" <<'END'
import json, pathlib, sys
user = pathlib.Path(sys.argv[1])
assert (user / "pooled/file").read_bytes() == bytes(range(256)) * 40000
(file,) = json.loads((user / "summary").read_text())["pool"]["files"]
assert file["path"] == "/user/pooled/file", file
END
}

programs() {  # those of the new user; the one in C starts by an older libc, too (older_libc)
    local libc=src/foundation/kernel/older_libc
    g++ -O1 -std=c++20 -c -o "$prefix/constructors.o" "$libc/constructors.cpp" \
        && gcc -O1 -o "$prefix/c" tests/trial/model.c "$libc/start.S" "$prefix/constructors.o" \
        && install tests/trial/model.py "$prefix/python"
}

typed_in_time() {  # typed_in_time SUITE LANGUAGE LINE SECONDS TEXT: the line says the text
    local log=$roots/$1/user/$2.log
    typed_by "$user" "$1" "/user/$2" /bin/sh -c "$3" > "$log" 2>&1
    local status=$? took=$((SECONDS - begun)) slower=${FOREBAY_TESTS_SLOWER:-1}
    cat "$log"
    echo "$3: status $status, $took s after the user began"
    taken+=("$took")
    ((status == 0 && took <= $4 * ${slower%.*})) && grep -q -- "$5" "$log"
}

first_minutes() {  # first_minutes SUITE LANGUAGE: README's first block, typed line by line
    local place=$roots/$1/user/$2 begun taken=()
    mkdir "$place" && cp "$prefix/$2" "$place/program" \
        && chown -R "$user" "$roots/$1"/{user,venv} || return 1
    begun=$SECONDS
    typed_in_time "$1" "$2" "${typed[0]}" 60 '; same bytes in 4 files' \
        && typed_in_time "$1" "$2" "${typed[1]}" 300 '^through the pool: .* of 4 files' \
        && typed_in_time "$1" "$2" "${typed[2]}" 300 '^#!/bin/bash' \
        && [[ $(stat -c %u:%g "$place/step-3.bin") == "$user" ]] || return 1
    told="a new user in $1, with a program in $2: ${taken[0]} s to the first sentence,"
    told+=" ${taken[1]} s until a run through the pool was over"
}

user=65534:65534
mapfile -t typed < <(awk '/^```sh/ { on = 1; next } /^```/ && on { exit } on' README.md)
told=
expect "the block of three lines at the beginning of README.md" test "${#typed[@]}" -eq 3
expect "the programs of the new user" programs
for suite in "${suites[@]}"; do
    expect "a Debian $suite" system "$suite"
    expect "pip install in $suite" installs "$suite"
    expect "the doctor in $suite" in_system "$suite" forebay doctor /user
    for family in mpich openmpi; do
        expect "a run with $family in $suite" runs_with_mpi "$suite" "$family"
        expect "its report in $suite" in_system "$suite" forebay report /user/record
    done
    expect "a run with the pool in $suite" runs_with_the_pool "$suite"
    expect "the benchmark in $suite" \
        in_system "$suite" forebay bench ior -np 2 -a MPIIO -c -t 64k -b 256k -o /user/bench
    for language in c python; do
        expect "the first minutes in $suite" first_minutes "$suite" "$language"
        echo "$told"
    done
done
echo "$passed passed, 0 failed"
