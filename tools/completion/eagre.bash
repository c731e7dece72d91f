# Completion of the command eagre for bash.

_eagre()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]}
    COMPREPLY=()

    # A device's name contains a colon, at which bash splits words.
    local line=${COMP_LINE:0:COMP_POINT}
    if [[ $line =~ (-d|--device)[=[:space:]]+([a-z]*:?[0-9]*)$ ]]; then
        local typed=${BASH_REMATCH[2]} names
        names="auto $(eagre devices 2>/dev/null |
            sed -n 's/^[[:space:]]*\(\(cpu\|opencl\|cuda\)\(:[0-9]*\)\{0,1\}\)[[:space:]].*/\1/p')"
        mapfile -t COMPREPLY < <(compgen -W "$names" -- "$typed")
        if [[ $typed == *:* ]]; then
            COMPREPLY=("${COMPREPLY[@]#"${typed%:*}:"}")
        fi
        return
    fi

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'devices bench --help --version' -- "$word")
        return
    fi
    case $previous in
    --svg | --markdown)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    esac
    case $command in
    devices) mapfile -t COMPREPLY < <(compgen -W '--device --json --verbose --help' -- "$word") ;;
    bench)
        mapfile -t COMPREPLY < <(compgen -W 'all stream fma gemm chain matvec dot launch
            --device --quick --json --svg --markdown --verbose --help' -- "$word")
        ;;
    esac
}

complete -F _eagre eagre
