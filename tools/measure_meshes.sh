#!/bin/sh
# Measures how fast Gmsh files are read, and in how much memory: triangles in binary files of
# version 4.1 and as text, a million and four million of them. Reading is all of `eagre mesh check`: read,
# connect, validate, order; on one core, best of three.
#
#     tools/measure_meshes.sh EAGRE [FILE.msh...]     those files instead
#
# The bars: a million triangles, binary, in 4 s and 1 GiB; four million in four times that; text in
# three times the time of binary.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
eagre=${1:-$root/build/release/eagre}
[ $# -eq 0 ] || shift
time=$(command -v time || true)
if ! [ -x "$eagre" ] || ! [ -x "$time" ]; then
    echo "There is no $eagre (make build), or no program time (apt-get install time)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-measure-XXXXXX")
trap 'rm -rf "$work"' EXIT
core=
if command -v taskset >/dev/null; then core='taskset -c 0'; fi

# measure FILE: a line with its size, the best time and the most memory.
measure()
{
    for _ in 1 2 3; do
        # shellcheck disable=SC2086 # words of their own
        $core "$time" -f '%e %M' -o "$work/used" "$eagre" mesh check "$1" >"$work/out" || {
            cat "$work/out" >&2
            exit 1
        }
        cat "$work/used"
    done | awk -v name="$(basename "$1")" -v bytes="$(wc -c <"$1")" '
        { if (NR == 1 || $1 < s) s = $1; if ($2 > kib) kib = $2 }
        END {
            printf "%-28s %8.1f MB %7.2f s %8.1f MiB %7.1f MB/s\n", name, bytes / 1e6, s,
                kib / 1024, bytes / 1e6 / s
        }'
}

if [ $# -gt 0 ]; then
    for file in "$@"; do
        measure "$file"
    done
    exit
fi
for cells in 708,707 1415,1414; do
    count=$((2 * ${cells%,*} * ${cells#*,}))
    for form in binary text; do
        file=$work/$count-$form.msh
        "$eagre" mesh generate mesh.shape=triangle "mesh.cells=[$cells]" mesh.perturb=0.2 --$form \
            --output "$file" >/dev/null
        measure "$file"
        rm -f "$file"
    done
done
