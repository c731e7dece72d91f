#!/bin/sh
# The shell completion and the manual page know every command, benchmark and option that the command
# itself lists in its help, and the completion offers the devices.
#
#     completion.sh COMMAND [SOURCE-DIR]
set -eu

command -v bash >/dev/null || exit 77
eagre=$1
source=${2:-$(dirname "$0")/../..}
failures=0

# offered LINE: what completion offers behind LINE, one a line.
offered()
{
    PATH="$(dirname "$eagre"):$PATH" bash -c '
        . "$0"
        COMP_LINE=$1 COMP_POINT=${#1}
        read -ra COMP_WORDS <<<"$1"
        if [[ $1 == *" " ]]; then COMP_WORDS+=(""); fi
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _eagre
        printf "%s\n" "${COMPREPLY[@]}"' "$source/tools/completion/eagre.bash" "$1"
}

# expect LINE WORD...: completion behind LINE offers each word, and the manual page has it.
expect()
{
    line=$1
    shift
    for word; do
        if ! offered "$line" | grep -qxFe "$word"; then
            echo "completion.sh: \"$line\" does not offer $word" >&2
            failures=$((failures + 1))
        fi
        if ! sed 's/\\-/-/g' "$source/docs/man/eagre.1" | grep -qwFe "$word"; then
            echo "completion.sh: the manual page lacks $word" >&2
            failures=$((failures + 1))
        fi
    done
}

commands=$("$eagre" --help | awk '/^Commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }')
benches=$("$eagre" bench | awk '{ print $1 }')
[ -n "$commands" ] && [ -n "$benches" ]
# shellcheck disable=SC2086 # lists of words
{
    expect 'eagre ' $commands
    expect 'eagre bench ' $benches
    for name in $commands; do
        options=$("$eagre" "$name" --help | grep -o '^  .*--[a-z]*' | grep -o -e '--[a-z]*')
        [ -n "$options" ]
        expect "eagre $name " $options
    done
}
expect 'eagre bench --device ' auto cpu
expect 'eagre bench --device a' auto
expect 'eagre bench g' gemm
expect 'eagre mesh ' generate info check convert refine picture partition

# offers LINE WORD...: the same for what the manual page need not know.
offers()
{
    line=$1
    shift
    for word; do
        if ! offered "$line" | grep -qxFe "$word"; then
            echo "completion.sh: \"$line\" does not offer $word" >&2
            failures=$((failures + 1))
        fi
    done
}
offers 'eagre run my.toml mesh.c' mesh.cells=
offers 'eagre run my.toml mesh.shape=t' triangle tetrahedron
offers 'eagre mesh info mesh.s' mesh.shape=
offers 'eagre mesh convert in.msh out.msh --format ' 2.2 4.1
offers 'eagre new ' project
offers 'eagre help space' space space.degree
cd "$source"
offers 'eagre run cases/project-s' cases/project-sine.toml
offers 'eagre mesh check cases/geo/dis' cases/geo/disc.msh
offers 'eagre mesh convert cases/geo/disc.msh cases/geo/dis' cases/geo/disc.msh

[ "$failures" -eq 0 ]
