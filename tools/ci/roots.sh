# Files of packages of other Debians, for a step to `source`. Needs $prefix, a folder.
# $architecture names one that is not this machine's.

debian() {  # debian SUITE WORDS…: apt-get with that Debian's packages, none of which is installed
    local apt=$prefix/apt-$1
    if [[ ! -e $apt/status ]]; then
        mkdir -p "$apt"/{lists/partial,cache/archives/partial}
        echo "deb http://deb.debian.org/debian $1 main" > "$apt/sources.list"
        touch "$apt/status"
        debian "$1" update || return 1
    fi
    apt-get -qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status" \
        -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root \
        ${architecture:+-o APT::Architecture=$architecture -o APT::Architectures=$architecture} \
        "${@:2}"
}

unpack() {  # unpack SUITE FOLDER PACKAGE…: their files, but not those of what they depend on
    local folder debs=$prefix/debs-$1 package
    folder=$(realpath -m "$2")
    mkdir -p "$folder" "$debs"
    (cd "$debs" && debian "$1" download "${@:3}") || return 1
    for package in "$debs"/*.deb; do dpkg-deb -x "$package" "$folder" || return 1; done
    rm -r "$debs"
}
