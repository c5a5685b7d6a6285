#!/bin/bash
# Says what a build lacks where there is no apt, by the names of dnf and zypper (rpm-packages.txt).
# Installs nothing: on a cluster that is for its administrators, or a matter of modules. Fails if
# something is missing without which Forebay is not built.
set -euo pipefail
cd "$(dirname "$0")/../.."
cxx=${CXX:-c++}

has_header() {  # where compilers look, or below a prefix where CMake looks, as modules set it
    local prefix prefixes
    if "$cxx" -E -x c++ - <<< "$(printf '#if !__has_include(<%s>)\n#error\n#endif' "$1")" \
        >/dev/null 2>&1; then
        return 0
    fi
    IFS=':;' read -ra prefixes <<< "${CMAKE_PREFIX_PATH:-}"
    for prefix in "${prefixes[@]}"; do
        if [[ -f $prefix/include/$1 ]]; then return 0; fi
    done
    return 1
}

is_there() {
    local names name
    case $1 in
        compiler) "$cxx" -std=c++20 -fsyntax-only -x c++ - <<< 'int main() {}' >/dev/null 2>&1 ;;
        python) python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ;;
        header:*) has_header "${1#header:}" ;;
        archive:*)
            "$cxx" -static-libstdc++ -x c++ - -o /dev/null >/dev/null 2>&1 \
                <<< "int main() { throw 1; } // ${1#*:}"
            ;;
        program:*)
            IFS='|' read -ra names <<< "${1#program:}"
            for name in "${names[@]}"; do
                if command -v "$name" >/dev/null; then return 0; fi
            done
            return 1
            ;;
    esac
}

name_of() {  # for people
    case $1 in
        compiler) echo "a C++20 compiler ($cxx, or CXX)" ;;
        python) echo "Python 3.11 or newer (python3)" ;;
        *) echo "${1#*:}" ;;
    esac
}

must=()
may=()
dnf=()
zypper=()
while read -r wanted need of_dnf of_zypper; do
    if [[ -z $wanted || $wanted == '#'* ]] || is_there "$wanted"; then continue; fi
    line=$(printf '  %-36s dnf: %-24s zypper: %s' "$(name_of "$wanted")" "$of_dnf" "$of_zypper")
    if [[ $need == may ]]; then
        may+=("$line")
        continue
    fi
    must+=("$line")
    if [[ $of_dnf != - ]]; then dnf+=("$of_dnf"); fi
    if [[ $of_zypper != - ]]; then zypper+=("$of_zypper"); fi
done < rpm-packages.txt

if ((${#may[@]} > 0)); then
    echo "Forebay is built without what can be missing:"
    printf '%s\n' "${may[@]}"
fi
if ((${#must[@]} == 0)); then
    exit 0
fi
{
    echo "Forebay cannot be built (these are missing, and there is no apt to install them):"
    printf '%s\n' "${must[@]}"
    echo "Have them installed, or load their modules, and try again. All at once:"
    echo "  dnf install ${dnf[*]}"
    echo "  zypper install ${zypper[*]}"
} >&2
exit 1
