#!/bin/bash
# Makes Debian's packages of what `release` has built, has lintian look at them, and installs them
# by apt in a Debian 12 that has nothing else: doctor, a run with the pool, benchmarks with both
# MPIs, and taking them off. Has rpmbuild make an rpm of the same, and rpmlint look at its
# specification. Needs root and the network. FOREBAY_ROOTS names a folder where the Debian is kept
# for the next time. In what `expect` runs, set -e does not count.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ${1:-} != inside ]]; then
    tools/ci/packages.sh all
    exec unshare --mount "$0" inside  # what is mounted here ends with this
fi
built=$(realpath "${FOREBAY_BUILD:-build/release}")
prefix=$(mktemp -d)
root=$(realpath -m "${FOREBAY_ROOTS:-$prefix/roots}/packaged")
trap 'umount "$root"/{proc,sys,dev/shm} 2>/dev/null || true
    rm -rf --one-file-system "$prefix"' EXIT
source tools/ci/expect.sh

makes_debs() {
    FOREBAY_BUILT=$built DEB_BUILD_OPTIONS=noautodbgsym packaging/make_deb.sh "$prefix/debs" \
        && ls "$prefix"/debs/forebay{,-mpich,-openmpi}_*.deb
}

makes_an_rpm() {  # this machine's packages are not rpm's
    FOREBAY_BUILT=$built packaging/make_rpm.sh "$prefix/rpms" --nodeps \
        && rpm -qlp "$prefix"/rpms/forebay-*."$(uname -m)".rpm | grep -x /usr/lib/forebay/forebayd
}

system() {  # a new Debian 12, or the one of the last time, and the packages in it
    if [[ ! -e $root/complete ]]; then
        mkdir -p "$root"
        debootstrap --variant=minbase --include=ca-certificates bookworm "$root" \
            && touch "$root/complete" || return 1
    fi
    mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" \
        && mount -t tmpfs tmpfs "$root/dev/shm" || return 1
    echo "127.0.0.1 localhost $(hostname)" > "$root/etc/hosts"
    cp /etc/resolv.conf "$root/etc" || return 1
    rm -rf "$root"/{user,debs}
    leaves_nothing || return 1  # a step that failed did not come as far as taking it off
    mkdir "$root/user" && cp -r "$prefix/debs" "$root"
}

in_system() {  # in_system COMMAND…
    timeout 600 chroot "$root" /usr/bin/env -i HOME=/user LC_ALL=C.UTF-8 \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        ${https_proxy:+"https_proxy=$https_proxy"} ${http_proxy:+"http_proxy=$http_proxy"} "$@"
}

installs() {  # installs PACKAGE: by apt, with what it depends on
    in_system apt-get -qq update \
        && in_system apt-get -qq install -y --no-install-recommends "/debs/$1"
}

needs_no_mpi() {  # it serves those that are there
    ! dpkg-deb -f "$prefix"/debs/forebay_*.deb Depends | grep mpi
}

runs_with_the_pool() {  # the bytes arrive, and went through the pool
    mkdir "$root/user/pooled"
    in_system forebay run --pool /user/pooled --format json --summary /user/summary -- \
        python3 -c 'open("/user/pooled/file", "wb").write(bytes(range(256)) * 40000)' \
        && python3 - "$root/user" <<'END'
import json, pathlib, sys
user = pathlib.Path(sys.argv[1])
assert (user / "pooled/file").read_bytes() == bytes(range(256)) * 40000
(file,) = json.loads((user / "summary").read_text())["pool"]["files"]
assert file["path"] == "/user/pooled/file", file
END
}

measures() {  # measures FAMILY [WORD…]: two ranks
    in_system "mpiexec.$1" "${@:2}" -n 2 \
        forebay-ior -a MPIIO -c -w -r -R -k -t 64k -b 256k -o "/user/file.$1"
}

leaves_nothing() {
    in_system dpkg --purge forebay-mpich forebay-openmpi forebay \
        && [[ ! -e $root/usr/lib/forebay ]]
}

expect "Debian's packages" makes_debs
expect "lintian to have nothing against them" \
    lintian --fail-on error,warning "$prefix"/debs/forebay*.deb
expect "an rpm" makes_an_rpm
expect "a specification that rpmlint takes" \
    rpmlint -r packaging/rpm/forebay.rpmlintrc packaging/rpm/forebay.spec
expect "a Debian 12" system
expect "apt to install forebay" installs "$(basename "$prefix"/debs/forebay_*.deb)"
expect "it to depend on no MPI" needs_no_mpi
expect "its Python to be compiled" test -d "$root/usr/lib/forebay/python/forebay/__pycache__"
expect "the version" in_system forebay --version
expect "a run with the pool" runs_with_the_pool
for family in mpich openmpi; do
    expect "apt to install forebay-$family" \
        installs "$(basename "$prefix/debs/forebay-$family"_*.deb)"
done
expect "the doctor, who finds both MPIs" in_system forebay doctor /user
expect "the benchmark with MPICH" measures mpich
expect "the benchmark with Open MPI" measures openmpi --allow-run-as-root --oversubscribe
expect "dpkg to take all of it off" leaves_nothing
echo "$passed passed, 0 failed"
