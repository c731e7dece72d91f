#!/bin/sh
# From a case file to a field on a device and back to a number, through the command: orders of
# convergence, devices, ranks, templates, the files in cases/.
#
#     run.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -u
eagre=$1
source=${2:-$(dirname "$0")/../..}
build=${3:-$(dirname "$1")}
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-run-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

complain()
{
    echo "run.sh: $*" >&2
    sed 's/^/    /' "$work/err" >&2
    failures=$((failures + 1))
}

# number KEY FILE: the first number behind "KEY".
number() { grep -o "\"$1\": [-+0-9.e]*" "$2" | head -n 1 | sed 's/.*: //'; }

# json ARGUMENT...: runs a case into $work/out.
json()
{
    "$eagre" run "$@" --json >"$work/out" 2>"$work/err" || {
        complain "eagre run $* --json failed"
        return
    }
    [ "$(wc -l <"$work/out")" -eq 1 ] || complain "eagre run $* --json: not one line"
}

# true when the expression of awk holds.
holds() { awk "BEGIN { exit !($1) }"; }

sine=$source/cases/project-sine.toml

# The command that the documentation promises, with its keys.
json "$sine" 'mesh.cells=[16,16]' space.degree=4
for key in model device elements dof error u l1 l2 linf nodal_l2 wall_s; do
    grep -qF "\"$key\": " "$work/out" || complain "the object lacks $key"
done
[ "$(number elements "$work/out")" = 256 ] || complain "elements"
[ "$(number dof "$work/out")" = 6400 ] || complain "dof"

# An error that halves by 2^(N+1) when the cells do.
for shape in triangle quadrilateral; do
    json "$sine" mesh.shape=$shape 'mesh.cells=[8,8]' space.degree=2 --device cpu:1
    coarse=$(number l2 "$work/out")
    json "$sine" mesh.shape=$shape 'mesh.cells=[16,16]' space.degree=2 --device cpu:1
    fine=$(number l2 "$work/out")
    holds "log($coarse / $fine) / log(2) > 2.8 && log($coarse / $fine) / log(2) < 3.2" ||
        complain "$shape: $coarse and $fine are not of order 3"
done

# Every device gives the same error.
json "$sine" --device cpu:1
expected=$(number l2 "$work/out")
for device in $("$eagre" devices | awk 'NR > 1 { print $1 }'); do
    case $device in cpu* | opencl:* | cuda:*) ;; *) continue ;; esac
    json "$sine" --device "$device"
    holds "($(number l2 "$work/out") - $expected)^2 < ($expected * 1e-12)^2" ||
        complain "$device gives another error than the CPU"
done

# So does every number of ranks.
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    # MPI leaks from plug-ins that it unloads, so that no suppression can name them.
    mpirun="env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe"
    for ranks in 2 3; do
        $mpirun -n $ranks "$eagre" run "$sine" --device cpu:1 --json \
            >"$work/out" 2>"$work/err" || complain "$ranks ranks failed"
        [ "$(wc -l <"$work/out")" -eq 1 ] || complain "$ranks ranks: not one line"
        [ "$(number ranks "$work/out")" = $ranks ] || complain "$ranks ranks: $(cat "$work/out")"
        holds "($(number l2 "$work/out") - $expected)^2 < ($expected * 1e-13)^2" ||
            complain "$ranks ranks give another error than one"
    done
    # Each rank has the same arguments.
    $mpirun -n 1 "$eagre" check "$sine" : -n 1 "$eagre" check "$sine" space.degree=2 \
        >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || complain "ranks with different arguments: not exit code 2"
    # A rank that fails alone takes the others with it.
    timeout 60 $mpirun -n 1 "$eagre" run "$sine" --device cpu:1 : \
        -n 1 "$eagre" run "$sine" --device cuda:99 >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || complain "one rank without its device: not exit code 2"
    # Files are written once.
    $mpirun -n 3 "$eagre" new project --output "$work/ranks.toml" >"$work/out" 2>"$work/err" ||
        complain "eagre new on 3 ranks failed"
    # What is wrong is said once, not by every rank.
    $mpirun -n 3 "$eagre" run "$sine" space.degre=1 >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || complain "3 ranks with a wrong key: not exit code 2"
    [ "$(grep -c 'unknown key' "$work/err")" -eq 1 ] || complain "3 ranks do not complain once"
fi

# The errors that the cases promise.
for case in "$source"/cases/project-*.toml; do
    json "$case" --device cpu:1
    sed -n 's/^# Expected: l2 = \(.*\)\. Running.*/\1/p' "$case" | tr ',' '\n' >"$work/promised"
    [ -s "$work/promised" ] || complain "$case does not say what to expect"
    while read -r promised _ field; do
        measured=$(sed "s/.*\"$field\": {//" "$work/out" | grep -o '"l2": [-+0-9.e]*' | head -n 1 | sed 's/.*: //')
        holds "$measured < 1.01 * $promised && $measured > 0.99 * $promised" ||
            complain "$case: l2 of $field is $measured, promised is $promised"
    done <"$work/promised"
    "$eagre" check "$case" >"$work/out" 2>"$work/err" || complain "$case is refused"
done

# What is not a number is a failure, not a result.
"$eagre" run "$sine" 'initial.u=log(x - 2)' --device cpu:1 --json >"$work/out" 2>"$work/err"
[ $? -eq 1 ] || complain "a function that is not finite is not exit code 1"
grep -qF 'not finite' "$work/err" || complain "a function that is not finite is not explained"

# A name that is too long, a device that is none.
name=$(printf 'f%.0s' $(seq 200))
printf 'model="project"\n[mesh]\ncells=4\n[space]\ndegree=1\n[initial]\n%s="x"\n' "$name" >"$work/long.toml"
"$eagre" run "$work/long.toml" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "a name of 200 letters is not exit code 2"
"$eagre" check "$sine" device.name=gpu >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "a device that is none is not exit code 2"

# A template is a case.
"$eagre" new project --output "$work/new.toml" 2>"$work/err" || complain "eagre new failed"
json "$work/new.toml"
"$eagre" new project --output "$work/new.toml" >"$work/out" 2>"$work/err" &&
    complain "eagre new overwrites a file"

# Meshes.
"$eagre" mesh info mesh.shape=hexahedron 'mesh.cells=[2,3,4]' --json >"$work/out" 2>"$work/err" ||
    complain "eagre mesh info failed"
[ "$(number hexahedron "$work/out")" = 24 ] || complain "mesh info: $(cat "$work/out")"
"$eagre" mesh partition "$sine" --parts 3 --output "$work/parts" --json >"$work/out" 2>"$work/err" ||
    complain "eagre mesh partition failed"
[ "$(sort -u "$work/parts" | tr '\n' ' ')" = '0 1 2 ' ] || complain "mesh partition: parts"
[ "$(wc -l <"$work/parts")" -eq 64 ] || complain "mesh partition: lines"
"$eagre" mesh generate "$sine" --output "$work/box.msh" >"$work/out" 2>"$work/err" ||
    complain "eagre mesh generate failed"
grep -q '^\$MeshFormat' "$work/box.msh" || complain "mesh generate: not a Gmsh file"
"$eagre" mesh refine >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "an unknown action is not exit code 2"

# Help on keys, and the reference page is what the schema says.
"$eagre" help mesh.cells >"$work/out" 2>"$work/err" || complain "eagre help mesh.cells failed"
grep -q cells "$work/out" || complain "eagre help mesh.cells does not explain it"
"$eagre" help mesh.cels >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "help on an unknown key is not exit code 2"
grep -qF 'mesh.cells' "$work/err" || complain "help on an unknown key suggests nothing"
"$eagre" help --reference >"$work/out" 2>"$work/err" || complain "eagre help --reference failed"
sed '1,/^<!-- eagre help --reference -->$/d' "$source/docs/reference/case-files.md" |
    diff - "$work/out" >"$work/err" ||
    complain "docs/reference/case-files.md is not what eagre help --reference prints"

[ "$failures" -eq 0 ]
