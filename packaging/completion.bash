# Completion of forebay and its benchmarks in bash, made from their help.
@TABLE@

_forebay() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local at=${COMP_WORDS[0]##*/} key='' word values i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == -- && ($at == 'forebay run' || $at == 'forebay job-script') ]]; then
            if ((i == COMP_CWORD - 1)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi
            return
        fi
        if _forebay_is_command "$at $word"; then at+=" $word"; fi
    done
    # bash takes the = of KEY=VALUE for a word of its own.
    if [[ $cur == = ]]; then
        key=$prev cur=''
    elif [[ $prev == = ]]; then
        key=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if values=$(_forebay_values "$at" "${key:-$prev}"); then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_forebay_options "$at")" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -W "$(_forebay_below "$at")" -- "$cur")
    fi
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

# Where nothing of ours fits, file names.
complete -o bashdefault -o default -F _forebay forebay forebay-ior forebay-hpio forebay-meta
