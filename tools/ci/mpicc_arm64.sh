#!/bin/bash
# The compiler wrapper of an MPI of Debian's arm64 packages, for another machine: Open MPI's own is
# a program for aarch64, and MPICH's names folders of the machine that it runs on. arm64.sh puts
# copies of this file into ROOT/wrappers, as mpicc.mpich and mpicc.openmpi.
set -euo pipefail
wrapper=$(realpath "$0")
root=${wrapper%/wrappers/*}
libraries=$root/usr/lib/aarch64-linux-gnu
case ${wrapper##*.} in
    mpich) words=("-I$root/usr/include/aarch64-linux-gnu/mpich" "-L$libraries" -lmpich) ;;
    openmpi)
        words=("-I$libraries/openmpi/include" "-I$libraries/openmpi/include/openmpi"
               "-L$libraries/openmpi/lib" -lmpi)
        ;;
    *)
        echo "$0: this is a wrapper for mpich or openmpi, by its name." >&2
        exit 1
        ;;
esac
compiler=(aarch64-linux-gnu-gcc "--sysroot=$root")
if [[ ${1:-} == -show ]]; then
    echo "${compiler[*]}" "${words[*]}"
else
    exec "${compiler[@]}" "$@" "${words[@]}"
fi
