#!/bin/sh
# What a user types and sees: help, exit codes, suggestions, JSON, files, the kernel cache.
#
#   commands.sh EAGRE
set -u
eagre=$1
cases=$(cd "$(dirname "$0")/../../cases" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-cli-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -m 700 "$work/cache"
export EAGRE_CACHE_DIR="$work/cache"
failures=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' "$work/out"
    sed 's/^/    stderr: /' "$work/err"
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: the command must end with CODE.
run() {
    expected=$1
    shift
    "$eagre" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$expected" ] || fail "eagre $* ended with $code, not $expected"
}

# says FILE TEXT: what came out of the last run contains TEXT.
says() {
    grep -qF -e "$2" "$work/$1" || fail "standard $1 lacks: $2"
}

silent() {
    [ ! -s "$work/$1" ] || fail "standard $1 is not empty"
}

# The last run printed exactly one JSON object.
is_json() {
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
value = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit("found " + c))
sys.exit(0 if isinstance(value, dict) else "not an object")' "$work/out" || fail "not one JSON object"
    fi
}

# Evaluates a Python expression on the object of the last run, as `o`.
holds() {
    if command -v python3 >/dev/null; then
        python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$work/out" "$1" || fail "does not hold: $1"
    fi
}

# Help and version.
run 0 --help
says out "bench"
says out "devices"
silent err
run 0 --version
says out "eagre "
for command in bench devices; do
    run 0 $command --help
    says out "Usage: eagre $command"
    says out "Example:"
    says out "--device D"
    silent err
done
run 2
silent out
says err "Usage:"

# Wrong input: exit code 2, the nearest valid name, nothing on standard output.
run 2 bnech
says err 'did you mean "bench"?'
silent out
run 2 --versoin
says err 'did you mean "--version"?'
run 2 bench --jsno
says err "did you mean --json?"
silent out
run 2 bench --devcie=cpu gemm
says err "did you mean --device?"
run 2 bench gmem
says err 'did you mean "gemm"?'
silent out
run 2 bench zzzzzzzz
says err "There are stream, fma, gemm"
run 2 bench --device
says err "needs a value"
run 2 bench --quick=yes
says err "takes no value"
run 2 bench -x
says err "unknown option -x"
run 2 devices cpu
says err "--device cpu"

# A device that is not there.
for device in cuda:99 opencl:99 nonsense cpu:0x cpu:-1; do
    run 2 devices --device $device
    silent out
    says err "${device%%:*}"
    run 2 bench launch --device $device
    says err "${device%%:*}"
done
run 2 devices --device cuda:99 --json
is_json
holds '"cuda" in o["error"]["message"]'

# Devices.
run 0 devices
says out "cpu"
silent err
run 0 devices --json
is_json
holds 'o["devices"][0]["lanes"] > 0 and o["devices"][0]["memory_bytes"] > 0'
run 0 devices --device cpu:1 --json
holds 'len(o["devices"]) == 1 and o["devices"][0]["threads"] == 1'

# Benchmarks: a list, a table, JSON with its stable keys.
run 0 bench
says out "matvec"
run 0 bench --json
is_json
run 0 bench launch --device cpu:1 --quick
says out "in a row"
run 0 bench dot --quick --json -d cpu:1
is_json
holds 'o["bench"] == "dot" and o["device"] == "cpu:1"'
holds 'set(o["ceilings"]) >= {"copy_gbs", "read_gbs", "fma_gflops", "tensor_gflops", "shared_gbs"}'
holds 'all(set(p) >= {"name", "size", "gflops", "gbs", "bound_s", "time_s", "fraction"}
           for p in o["points"])'
holds 'all(abs(p["fraction"] * p["time_s"] / p["bound_s"] - 1) < 1e-12 for p in o["points"])'
run 0 bench launch dot --quick --device cpu:1 --json
is_json
holds '[b["bench"] for b in o["benches"]] == ["dot", "launch"]'

# Degrees are chosen where there are some; what needs a mesh says so.
run 0 bench ins --quick --json --device cpu:1 --degrees 2
is_json
holds '[p["name"] for p in o["points"]] == ["sav", "sas", "advect", "gradient", "divergence"]'
holds 'all(p["size"] == "N=2" and 0 < p["fraction"] < 1.5 for p in o["points"])'
holds 'all(p["paper_gflops"] > 0 for p in o["points"][:2])'
run 0 bench ins-steps --quick --json --degrees 1 --mesh "$cases/geo/square-cylinder.msh"
is_json
holds 'len(o["points"]) == 2 * 4 * 6'
holds 'all(abs(sum(p["share"] for p in o["points"][i:i + 4]) - 1) < 1e-12 for i in range(0, 48, 6))'
holds '[p["speed_up"] for p in o["points"][4::24]] == [1, 1]'
holds 'all(1 < p["iterations"] < 60 for p in o["points"] if p["name"].endswith(("velocity", "pressure")))'
run 0 bench elliptic-solve --quick --json --degrees 2 --device cpu:1
is_json
holds '[p["name"] for p in o["points"]] == ["pmg-cg-amg", "pmg-amg", "amg"]'
holds 'all(5 < p["iterations"] < 60 and p["dof_per_s"] > 1e4 for p in o["points"])'
holds '500 < o["points"][0]["bytes_per_element"] < 2000'
run 2 bench launch --degrees 2
says err "--degrees chooses"
run 2 bench ins --degrees 11
says err "1 to 10"
run 2 bench euler --degrees 3,8 --device cpu:1
silent out
says err 'benchmark "euler" measures degrees 1 to 6, not 8'
run 2 bench elliptic euler --degrees 7 --device cpu:1
silent out
says err "1 to 6, not 7"
run 2 bench ins-steps --degrees 7 --mesh "$cases/geo/square-cylinder.msh"
says err "1 to 6, not 7"
run 2 bench ins-steps
says err "--mesh cases/geo"
run 0 bench
says out "all       every one of them; ins-steps only with --mesh"
run 2 bench ins --mesh x.msh
says err "for ins-steps"
run 2 bench ins-steps --mesh "$cases/geo/square.msh"
says err "inflow, outflow and cylinder"
# Elements that it is not made for: curved ones, and others than triangles.
run 0 mesh convert "$cases/geo/square-cylinder.msh" "$work/curved.msh" --order 4
run 0 mesh generate mesh.shape=quadrilateral 'mesh.cells=[2, 2]' --output "$work/quadrilaterals.msh"
for file in curved quadrilaterals; do
    run 2 bench ins-steps --quick --degrees 1 --device cpu:1 --mesh "$work/$file.msh"
    says err "$file.msh\" must have straight triangles"
done

# A second start compiles nothing.
run 0 bench launch dot --quick --device cpu:1 --json
holds 'all(b["kernels_compiled"] == 0 for b in o["benches"])'
run 0 bench launch --quick --device cpu:1 --verbose
says err "kernels compiled: 0"

# Pictures: written whole or not at all, and refused before anything is measured.
run 0 bench dot --quick --device cpu:1 --svg "$work/roof.svg"
grep -q "</svg>" "$work/roof.svg" || fail "the picture is not complete"
run 2 bench launch --svg "$work/none.svg"
says err "gemm, chain"
run 2 bench dot --quick --svg "$work/no/such/roof.svg"
says err "no/such"
silent out
run 0 bench dot --quick --device cpu:1 --chart "$work/chart.svg"
grep -qF ">dot</text>" "$work/chart.svg" || fail "the chart lacks a name"
grep -qF ">1e7</text>" "$work/chart.svg" || fail "the chart lacks a size"
run 2 bench dot --quick --chart "$work/none.pdf"
says err ".svg or .png"
run 2 bench launch --chart "$work/none.svg"
says err "--chart draws"
[ ! -e "$work/none.svg" ] || fail "a picture was left behind"

# Markdown: this device's section is replaced, all else is kept.
printf 'Head.\n\n<!-- device: Other begin -->\nkept\n<!-- device: Other end -->\nTail.\n' >"$work/p.md"
run 0 bench launch --quick --device cpu:1 --markdown "$work/p.md"
run 0 bench launch --quick --device cpu:1 --markdown "$work/p.md"
for line in Head. kept Tail. "### launch"; do
    [ "$(grep -cxF "$line" "$work/p.md")" -eq 1 ] || fail "p.md has not exactly one line: $line"
done

# A full disk under standard output is a failure, not a success.
if [ -c /dev/full ]; then
    "$eagre" devices >/dev/full 2>"$work/err"
    [ $? -eq 1 ] || fail "writing to a full disk did not end with 1"
fi

[ "$failures" -eq 0 ] && echo "all as it should be"
exit $((failures > 0))
