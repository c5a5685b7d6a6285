#compdef forebay forebay-ior forebay-hpio forebay-meta
# Completion of forebay and its benchmarks in zsh, made from their help.
@TABLE@

_forebay() {
    local cur=${words[CURRENT]} prev=${words[CURRENT-1]} at=${words[1]:t} word values
    local -a found
    integer i
    for ((i = 2; i < CURRENT; i++)); do
        word=${words[i]}
        if [[ $word == -- && ($at == 'forebay run' || $at == 'forebay job-script') ]]; then
            shift i words
            ((CURRENT -= i))
            _normal
            return
        fi
        if _forebay_is_command "$at $word"; then at+=" $word"; fi
    done
    if [[ $cur == *=* ]] && values=$(_forebay_values "$at" "${cur%%=*}"); then
        compset -P '*='
        found=(${=values})
    elif values=$(_forebay_values "$at" "$prev"); then
        found=(${=values})
    elif [[ $cur == -* ]]; then
        found=(${=$(_forebay_options "$at")})
    else
        found=(${=$(_forebay_below "$at")})
    fi
    if ((${#found} == 0)); then
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}

_forebay "$@"
