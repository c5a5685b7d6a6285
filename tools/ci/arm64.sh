# Debian's arm64 packages as the root that programs for aarch64 are compiled and linked against, for
# a script to `source`, behind roots.sh. Needs $prefix, a folder.

# The part of apt-packages.txt that a build needs, without programs; the MPIs bring theirs.
arm64_packages=(libc6-dev libstdc++-12-dev libexpected-dev libfmt-dev nlohmann-json3-dev
                libtomlplusplus-dev liburing-dev libsodium-dev libxxhash-dev libfuse3-dev
                libsqlite3-dev libslurm-dev libgtest-dev libgmock-dev librapidcheck-dev
                libmpich-dev libopenmpi-dev)

arm64_root() {  # arm64_root FOLDER: their files, and compiler wrappers for this machine
    local root=$1 package family
    if [[ ! -e $root/complete || $(<"$root/complete") != "${arm64_packages[*]}" ]]; then
        rm -rf "$root"
        mkdir -p "$root"
        architecture=arm64 debian bookworm --yes --no-install-recommends --download-only \
            install "${arm64_packages[@]}" || return 1
        for package in "$prefix"/apt-bookworm/cache/archives/*.deb; do
            # In a user namespace there may be no groups to give a file to.
            dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$root" || return 1
        done
        echo "${arm64_packages[*]}" > "$root/complete"
    fi
    # Links such as libm.so to /lib: the linker would follow them on this machine, not in the root,
    # and take libm.a for what they do not lead to.
    find "$root" -type l -lname '/*' -printf '%p\0%l\0' \
        | while IFS= read -r -d '' link && IFS= read -r -d '' to; do
            ln -sfrn "$root$to" "$link" || exit 1
        done || return 1
    for family in mpich openmpi; do
        install -D tools/ci/mpicc_arm64.sh "$root/wrappers/mpicc.$family" || return 1
    done
}

arm64_wrappers() {  # arm64_wrappers FOLDER: the wrappers, as FOREBAY_MPICC has them
    echo "$1/wrappers/mpicc.mpich:$1/wrappers/mpicc.openmpi"
}
