#!/bin/sh
# Formats the C files in place, or with --check only says which are not formatted. Kernels are left
# out: clang-format takes the macros of their language for something else.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build

files()
{
    find src include tests \( -name '*.c' -o -name '*.h' \) ! -name '*.k.[ch]' -print0
}

case ${1:-} in
'') files | xargs -0 -r clang-format -i ;;
--check)
    if ! files | xargs -0 -r clang-format --dry-run -Werror 2>build/format.log; then
        echo "These files are not formatted; run make format:" >&2
        sed -n 's/^\([^ :]*\.[ch]\):[0-9]*:.*/    \1/p' build/format.log | sort -u >&2
        exit 1
    fi
    ;;
*)
    echo "usage: tools/format.sh [--check]" >&2
    exit 2
    ;;
esac
