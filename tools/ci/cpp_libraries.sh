#!/bin/bash
# Loads the MPI cores into programs whose C++ library is another one than that which is linked into
# the cores: GCC 10's (Debian 11), the same without what came after GCC 8, and LLVM's with an
# unwinder of its own. The program is one for which the core throws and catches an exception, and
# which does so itself (tests/mpi/no_memory.cpp).
set -euo pipefail
cd "$(dirname "$0")/../.."
preloaded=$(realpath "${FOREBAY_BUILD:-build/release}/lib/libforebay_mpi.so")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
source tools/ci/expect.sh
source tools/ci/roots.sh

# Symbol versions that came after GCC 8 get names of the same length that nobody asks for.
without_newer_than_gcc8() {  # without_newer_than_gcc8 LIBRARY FOLDER
    mkdir "$2"
    LC_ALL=C sed -e 's/GLIBCXX_3\.4\.2[6-9]/GLIBCXX_X.X.XX/g' \
        -e 's/CXXABI_1\.3\.1[2-9]/CXXABI_X.X.XX/g' "$1" > "$2/libstdc++.so.6"
}

build() {  # build MPI LIBRARY COMPILER [FLAG…]: no_memory for the MPI, as $prefix/MPI-LIBRARY
    MPICH_CC=$3 OMPI_CC=$3 "mpicc.$1" -std=c++20 -O1 -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX \
        tests/mpi/no_memory.cpp "${@:4}" -o "$prefix/$1-$2"
}

run() {  # run MPI LIBRARY CASE: through the core, in whose record is what was taken over
    local program=$prefix/$1-$2 words=()
    if [[ $1 == openmpi ]]; then words=(--allow-run-as-root --oversubscribe); fi
    rm -f "$prefix"/{file,record}
    timeout 120 "mpiexec.$1" "${words[@]}" -n 3 env "LD_LIBRARY_PATH=$prefix/$2" \
        "LD_PRELOAD=$preloaded" "FOREBAY_RECORD=$prefix/record" "$program" "$prefix/file" "$3" \
        | grep -x ok && test -s "$prefix/record"
}

has_library() {  # has_library MPI LIBRARY NAME: the program gets the library from our folder
    LD_LIBRARY_PATH=$prefix/$2 ldd "$prefix/$1-$2" | grep -F "$3 => $prefix/$2/"
}

expect "GCC 10's C++ library" unpack bullseye "$prefix/bullseye" libstdc++6
mv "$prefix/bullseye/usr/lib/x86_64-linux-gnu" "$prefix/gcc10"
expect "one as GCC 8's" without_newer_than_gcc8 "$prefix/gcc10/libstdc++.so.6" "$prefix/gcc8"
expect "LLVM's C++ library" unpack bookworm "$prefix/bookworm" \
    libc++{,abi}{-19-dev,1-19} libunwind-19{,-dev}
mv "$prefix/bookworm/usr/lib/llvm-19/lib" "$prefix/llvm"
libcpp=(-nostdinc++ -isystem "$prefix/bookworm/usr/lib/llvm-19/include/c++/v1" -nostdlib++
    "-L$prefix/llvm" -lc++ -lc++abi -lunwind)
for mpi in mpich openmpi; do
    for library in gcc8 gcc10; do
        expect "a program with $library's library, $mpi" build "$mpi" "$library" g++ -lstdc++
        expect "that library, $mpi" has_library "$mpi" "$library" libstdc++.so.6
    done
    expect "a program with LLVM's library, $mpi" build "$mpi" llvm clang++-19 "${libcpp[@]}"
    expect "that library, $mpi" has_library "$mpi" llvm libc++.so.1
    for library in gcc8 gcc10 llvm; do
        for case in alone datatypes; do
            expect "the core beside $library's library: $case, $mpi" run "$mpi" "$library" "$case"
        done
    done
done
echo "$passed passed, 0 failed"
