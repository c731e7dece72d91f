#!/bin/sh
# `eagre info` of checkpoints, and damaged ones: the file is named, the checkpoint before is offered, the
# exit code is 2. Runs that are interrupted are in restart.sh.
#
#     checkpoint.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -u
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-checkpoint-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

complain()
{
    echo "checkpoint.sh: $*" >&2
    sed 's/^/    stdout: /' out >&2
    sed 's/^/    stderr: /' err >&2
    failures=$((failures + 1))
}

# code N ARGUMENT...: the command must end with exit code N.
code()
{
    expected=$1
    shift
    "$eagre" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$expected" ] || complain "eagre $*: exit code $got, not $expected"
}

# says FILE TEXT: what came out of the last run contains TEXT.
says() { grep -qF -e "$2" "$1" || complain "$1 lacks \"$2\""; }

# Evaluates a Python expression on the object of the last run, as `o`.
holds()
{
    command -v python3 >/dev/null || return
    python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' out "$1" || complain "does not hold: $1"
}

cat >case.toml <<'END'
model = "advection"
[mesh]
shape = "quadrilateral"
cells = [3, 3]
periodic = ["x", "y"]
[space]
degree = 2
[time]
end = 0.2
dt = 0.02
[advection]
velocity = ["1", "0.5"]
[initial]
u = "sin(2*pi*x)"
[output]
directory = "results"
[output.checkpoint]
steps = 4
keep = 3
END

code 0 run case.toml --device cpu:1 'constants.unused=1.5'
if grep -q "without HDF5" err; then exit 77; fi
[ "$failures" -eq 0 ] || exit 1

# --- what is in it ----------------------------------------------------------------------------------

for name in results results/checkpoints results/checkpoints/00000010 \
    results/checkpoints/00000010/ results/checkpoints/00000010/manifest.toml; do
    code 0 info "$name"
    says out "results/checkpoints/00000010, whole"
    says out "results/checkpoints/00000008, whole, step 8, time 0.16"
    says out "results/checkpoints/00000004, whole, step 4, time 0.08"
    says out "degree 2, basis"
    says out "case.toml"
    says out "constants.unused=1.5"
done
code 0 info results --json
holds "o['kind'] == 'checkpoint' and o['path'] == 'results/checkpoints/00000010'"
holds "o['model'] == 'advection' and o['step'] == 10 and abs(o['time'] - 0.2) < 1e-12"
holds "o['elements'] == 9 and o['dof'] == 81 and o['dim'] == 2 and o['ranks'] == 1"
holds "o['case']['text'] == open('case.toml').read()"
holds "o['case']['replacements'] == ['constants.unused=1.5']"
holds "[b['elements'] for b in o['blocks']] == [9]"
holds "[x['step'] for x in o['others']] == [8, 4] and all(x['whole'] for x in o['others'])"
holds "o['fields'][0]['degree_least'] == o['fields'][0]['degree_most'] == 2"

# --- damage -----------------------------------------------------------------------------------------

newest=results/checkpoints/00000010
for file in "$newest"/*; do
    cp "$file" kept
    for damage in change cut empty; do
        case $damage in
        change) printf '\377' | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null ;;
        cut) dd if=kept of="$file" bs=1 count=700 2>/dev/null ;;
        empty) : >"$file" ;;
        esac
        for command in "info results" "run --restart results --device cpu:1" "info $newest --json"; do
            # shellcheck disable=SC2086 # words
            code 2 $command
            case $command in *json*) cat out >>err ;; esac
            says err "$file"
            says err "results/checkpoints/00000008 (step 8"
        done
        cp kept "$file"
    done
done
code 0 info results

# One of a newer version is not damaged, and no earlier one is offered in its place.
cp "$newest/manifest.toml" kept
sed '$d; s/^format = 1$/format = 2/' kept >"$newest/manifest.toml"
sum=$(sha256sum <"$newest/manifest.toml") && printf '# sha256 %s\n' "${sum%% *}" >>"$newest/manifest.toml"
code 2 run --restart results --device cpu:1
says err "was written by a newer eagre"
grep -q -e damaged -e whole err && complain "a newer checkpoint is called damaged"
cp kept "$newest/manifest.toml"

# The one that is offered is listed as whole, the damaged one as such, and a run goes on from it.
: >"$newest/manifest.toml"
code 0 info results/checkpoints/00000008
says out "00000010, damaged"
code 0 run --restart results/checkpoints/00000008 --device cpu:1
code 0 info results
says out "results/checkpoints/00000010, whole"

code 2 info results/nothing
says err "results/nothing"
mkdir empty
code 2 info empty
says err "empty"

[ "$failures" -eq 0 ] || exit 1
echo "checkpoint.sh: all fine"
