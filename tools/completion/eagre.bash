# Completion of the command eagre for bash: the command itself says what may follow.

_eagre()
{
    local line=${COMP_LINE:0:COMP_POINT} word candidates
    local -a words
    COMPREPLY=()

    # Words as the shell sees them: bash would split them at = and :, too.
    read -ra words <<<"$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    word=${words[-1]}
    # --option=value is completed like --option value.
    if [[ $word == --*=* ]]; then
        words=("${words[@]:0:${#words[@]}-1}" "${word%%=*}" "${word#*=}")
        word=${words[-1]}
    fi

    candidates=$("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "${candidates//FILES/}" -- "$word")
    if [[ $candidates == *FILES* && $word != -* ]]; then
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
    fi
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi

    # Bash replaces only what follows the last of its own word breaks.
    if [[ $word == *[:=]* ]]; then
        local done=${word%"${word##*[:=]}"}
        COMPREPLY=("${COMPREPLY[@]#"$done"}")
    fi
}

complete -F _eagre eagre
