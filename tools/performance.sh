#!/bin/sh
# Measures this machine and rewrites its sections of docs/performance.md.
#
#   tools/performance.sh EAGRE [DEVICE...]     by default one thread of the CPU, all of them, and
#                                              every CUDA device
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
eagre=${1:-$root/build/release/eagre}
document=$root/docs/performance.md
if ! [ -x "$eagre" ]; then
    echo "There is no command $eagre; build it with: make build" >&2
    exit 2
fi
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # one word a device
    set -- cpu:1 cpu $("$eagre" devices | sed -n 's/^\(cuda:[0-9]*\) .*/\1/p')
fi
for device in "$@"; do
    "$eagre" bench all --device "$device" --markdown "$document"
done
echo "The tables are in $document" >&2
