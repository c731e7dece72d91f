# Completion of the command eagre for bash: the command itself says what may follow.

_eagre()
{
    local line=${COMP_LINE:0:COMP_POINT} word candidates cword
    local -a words
    COMPREPLY=()

    # Words as the shell sees them: bash itself would split them at = and :, too.
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n := -w words -i cword
        words=("${words[@]:0:cword+1}")
    else
        read -ra words <<<"$line"
        if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    fi
    word=${words[-1]}
    # --option=value is completed like --option value.
    if [[ $word == --*=* ]]; then
        words=("${words[@]:0:${#words[@]}-1}" "${word%%=*}" "${word#*=}")
        word=${words[-1]}
    fi

    candidates=$("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    if [[ $candidates == *FILES* && $word != -* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        candidates=${candidates//FILES/}
    fi
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$candidates" -- "$word")
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi

    # Bash replaces only what follows the last of its own word breaks.
    if [[ $word == *[:=]* ]]; then
        local done=${word%"${word##*[:=]}"}
        COMPREPLY=("${COMPREPLY[@]#"$done"}")
    fi
}

complete -F _eagre eagre
