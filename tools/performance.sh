#!/bin/sh
# Measures this machine and rewrites its section of docs/performance.md.
#
#   tools/performance.sh [EAGRE]      the command; build/release/eagre by default
#   DEVICE=cuda:0 tools/performance.sh   another device than the one eagre chooses
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
eagre=${1:-$root/build/release/eagre}
document=$root/docs/performance.md
if ! [ -x "$eagre" ]; then
    echo "There is no command $eagre; build it with: make build" >&2
    exit 2
fi
"$eagre" bench all --device "${DEVICE:-auto}" --markdown "$document"
echo "The tables are in $document" >&2
