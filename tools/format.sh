#!/bin/sh
# Formats the C files in place, or with --check only says which are not formatted. Kernels are left
# out: clang-format takes the macros of their language for something else.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
'') mode=-i ;;
--check) mode='--dry-run -Werror' ;;
*)
    echo "usage: tools/format.sh [--check]" >&2
    exit 2
    ;;
esac
# shellcheck disable=SC2086 # two options
find src include tests \( -name '*.c' -o -name '*.h' \) ! -name '*.k.[ch]' -print0 |
    xargs -0 -r clang-format $mode
