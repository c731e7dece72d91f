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

# The errors that the cases promise. Those whose solution nobody knows are long, and begun only.
for case in "$source"/cases/*.toml; do
    if grep -q '^# Expected: no error' "$case"; then
        json "$case" time.end=0.001 --device cpu:1
        continue
    fi
    json "$case" --device cpu:1
    sed -n 's/^# Expected: l2 = \(.*\)\. Running.*/\1/p' "$case" | tr ',' '\n' >"$work/promised"
    [ -s "$work/promised" ] || complain "$case does not say what to expect"
    while read -r promised _ field; do
        measured=$(sed 's/.*"error": {//' "$work/out" | grep -o "\"$field\": {[^}]*}" | head -n 1 |
            grep -o '"l2": [-+0-9.e]*' | sed 's/.*: //')
        holds "$measured < 1.01 * $promised && $measured > 0.99 * $promised" ||
            complain "$case: l2 of $field is $measured, promised is $promised"
    done <"$work/promised"
    "$eagre" check "$case" >"$work/out" 2>"$work/err" || complain "$case is refused"
done

# Progress is drawn on a terminal and erased in the end; with --json, or elsewhere, there is none.
if command -v python3 >/dev/null; then
    cat >"$work/terminal.py" <<'PYTHON'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execv(sys.argv[2], sys.argv[2:])
drawn = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    drawn += piece
sys.stdout.buffer.write(drawn)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
    # As many steps as take about three seconds: a line is drawn every half second.
    "$eagre" new advection >"$work/slow.toml"
    json "$work/slow.toml" --device cpu:1
    [ ! -s "$work/err" ] || complain "progress where there is no terminal"
    steps=$(awk "BEGIN { print int(3 * $(number steps_per_s "$work/out")) }")
    for option in "" --json; do
        python3 "$work/terminal.py" "$work/out" "$eagre" run "$work/slow.toml" time.dt=1e-6 \
            time.end="$(awk "BEGIN { print $steps * 1e-6 }")" --device cpu:1 $option \
            >"$work/err" || complain "a run on a terminal failed"
        drawn=$(tr '\r' '\n' <"$work/err" | grep -c "step [0-9]* of $steps, time .* left")
        if [ -z "$option" ]; then
            [ "$drawn" -ge 1 ] || complain "no progress on a terminal"
            [ "$(tail -c 4 "$work/err" | od -An -c | tr -d ' ')" = '\r033[K' ] ||
                complain "progress is not erased"
        else
            [ ! -s "$work/err" ] || complain "--json draws progress"
        fi
    done
fi

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

# The template of every model is a case that runs as it stands, with an error to show.
models=$("$eagre" new 2>&1 | awk 'NR > 1 { print $1 }')
[ -n "$models" ] || complain "eagre new lists no models"
for model in $models; do
    "$eagre" new "$model" >"$work/$model.toml" 2>"$work/err" || complain "eagre new $model failed"
    "$eagre" check "$work/$model.toml" >"$work/out" 2>"$work/err" || complain "$model: refused"
    json "$work/$model.toml"
    holds "$(number l2 "$work/out") > 0 && $(number l2 "$work/out") < 1e-3" ||
        complain "the template of $model has an error of $(number l2 "$work/out")"
    holds "$(sed 's/.*"wall_s": //; s/}.*//' "$work/out") < 60" || complain "$model takes long"
done
"$eagre" new project --output "$work/new.toml" 2>"$work/err" || complain "eagre new failed"
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
"$eagre" mesh refineish >"$work/out" 2>"$work/err"
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
