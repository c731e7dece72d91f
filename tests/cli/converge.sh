#!/bin/sh
# eagre converge: orders of convergence, CSV, chart, JSON, progress, ranks, and what is wrong.
#
#     converge.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -u
eagre=$1
source=${2:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-converge-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
sine=$source/cases/project-sine.toml

complain()
{
    echo "converge.sh: $*" >&2
    sed 's/^/    /' "$work/err" >&2
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: eagre converge must end with CODE.
run()
{
    expected=$1
    shift
    "$eagre" converge "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$expected" ] || complain "eagre converge $* ended with $code, not $expected"
}

# says FILE TEXT: what came out of the last run contains TEXT.
says() { grep -qF -e "$2" "$work/$1" || complain "standard $1 lacks: $2"; }

# Evaluates a Python expression on the object of the last run, as `o`.
holds()
{
    command -v python3 >/dev/null || return 0
    python3 -c '
import json, math, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)' "$work/out" "$1" || complain "does not hold: $1"
}

# The orders of smooth data are N + 1 on every shape, in the table and in the CSV file.
for shape in quadrilateral triangle; do
    run 0 "$sine" mesh.shape=$shape --cells 8,16,32 --degrees 1,2,3 --device cpu:1 \
        --csv "$work/$shape.csv" --svg "$work/$shape.svg"
    says out 'l2 error of u'
    # "order of" ends in a table of field, degree, l1, l2, …
    awk '/^order of/ { on = 1; next }
         on && NF { n++; if ($4 < $2 + 0.8 || $4 > $2 + 1.2) bad = 1 }
         END { exit !(n == 3 && !bad) }' "$work/out" || complain "$shape: $(cat "$work/out")"
    [ "$(grep -c '^u,' "$work/$shape.csv")" -eq 9 ] || complain "$shape: the CSV file lacks rows"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; columns = NF; next }
             NF != columns { bad = 1 }
             $at["cells"] > 8 { order = $at["order_l2"] - $at["degree"] - 1
                                if (order < -0.2 || order > 0.2) bad = 1 }
             $at["cells"] == 8 && $at["order_l2"] != "" { bad = 1 }
             $at["cells"] == 16 { off = log(before / $at["l2"]) / log(2) - $at["order_l2"]
                                  if (off < -1e-4 || off > 1e-4) bad = 1 }
             { before = $at["l2"] }
             END { exit bad }' "$work/$shape.csv" || complain "$shape: $(cat "$work/$shape.csv")"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$work/$shape.svg" 2>"$work/xml" || complain "$shape: not XML"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$work/$shape.svg" \
            2>"$work/xml" || complain "$shape: not XML"
    fi
    # Each has a sample in the legend.
    [ "$(grep -c ' curve"' "$work/$shape.svg")" -eq 6 ] || complain "$shape: not three lines"
done
says err '1/9 degree 1 cells 8'
says err '9/9 degree 3 cells 32'

# JSON: one object, every run with all norms, orders that follow from the errors.
run 0 "$sine" --cells 8,16 --degrees 2,4 --device cpu:1 --json
[ "$(wc -l <"$work/out")" -eq 1 ] || complain "--json: not one line"
holds 'set(o) >= {"model", "device", "device_name", "ranks", "along", "runs", "orders", "wall_s"}'
holds '[(r["degree"], r["cells"], r["elements"], r["dof"]) for r in o["runs"]] ==
       [(2, [8], 64, 576), (2, [16], 256, 2304), (4, [8], 64, 1600), (4, [16], 256, 6400)]'
holds 'all(set(r["error"]["u"]) == set(r["order"]["u"]) == {"l1", "l2", "linf", "nodal_l2"}
           for r in o["runs"])'
holds 'all(abs(math.log2(a["error"]["u"][n] / b["error"]["u"][n]) - b["order"]["u"][n]) < 1e-12
           for a, b in (o["runs"][:2], o["runs"][2:]) for n in b["order"]["u"])'
holds 'all(v is None for v in o["runs"][0]["order"]["u"].values())'
holds '[(q["field"], q["degree"]) for q in o["orders"]] == [("u", 2), ("u", 4)]'
holds 'all(abs(q["l2"] - q["degree"] - 1) < 0.2 for q in o["orders"])'
holds 'o["along"] == "cells" and o["runs"][0]["dt"] is None'

# A run gives what eagre run gives.
error=$(grep -o '"l2": [-+0-9.e]*' "$work/out" | head -n 1)
"$eagre" run "$sine" mesh.cells=8 space.degree=2 --device cpu:1 --json >"$work/one" 2>"$work/err"
grep -qF "$error" "$work/one" || complain "$error is not what eagre run finds: $(cat "$work/one")"

# The order in h does not depend on how the cells are given, nor on the order of the list; cells of
# several axes refine by their number.
run 0 "$sine" mesh.shape=hexahedron --cells 4x4x2,2x2x1,8x8x4 --degrees 1 --device cpu:1 --json
holds '[r["cells"] for r in o["runs"]] == [[4, 4, 2], [2, 2, 1], [8, 8, 4]]'
holds 'o["runs"][1]["order"]["u"]["l2"] is None'
holds 'abs(o["runs"][2]["order"]["u"]["l2"] -
           math.log2(o["runs"][0]["error"]["u"]["l2"] / o["runs"][2]["error"]["u"]["l2"])) < 1e-12'
holds 'o["orders"][0]["l2"] == o["runs"][2]["order"]["u"]["l2"]'

# Errors of rounding have no order; that of the levels above them is quoted.
run 0 "$sine" --cells 2,4,16,32 --degrees 7 --device cpu:1
says out 'at rounding'
[ "$(grep -c 'at rounding' "$work/out")" -eq 2 ] || complain "at rounding: $(cat "$work/out")"
run 0 "$sine" --cells 2,4,16,32 --degrees 7 --device cpu:1 --json
holds 'o["orders"][0]["l2"] == o["runs"][1]["order"]["u"]["l2"] and 7 < o["orders"][0]["l2"] < 9'
holds 'o["runs"][2]["order"]["u"]["l2"] is None and o["runs"][3]["order"]["u"]["l2"] is None'
run 0 "$sine" initial.u=x exact.u=x --cells 2,4 --device cpu:1 --svg "$work/exact.svg"
says out 'at rounding'

# A model may name the keys of its [exact].
run 0 "$source/cases/euler-vortex.toml" --cells 8,16 --degrees 1 --device cpu:1 --json
holds 'set(o["runs"][0]["error"]) == {"rho", "mx", "my", "E"} and 1.5 < o["orders"][0]["l2"] < 2.5'

# Meshes that are refined, of files and of boxes: each level is half as large as the one before.
run 0 "$source/cases/project-disc.toml" --refine 0,1,2 --degrees 1,2 --device cpu:1 --csv "$work/disc.csv"
grep -q '^degree  refined  elements' "$work/out" || complain "--refine: $(cat "$work/out")"
says err '6/6 degree 2 refined 2'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
         $at["elements"] != 64 * 4 ^ $at["refined"] { bad = 1 }
         $at["refined"] > 0 { off = log(before / $at["l2"]) / log(2) - $at["order_l2"]
                              if (off < -1e-4 || off > 1e-4) bad = 1
                              order = $at["order_l2"] - $at["degree"] - 1
                              if (order < -0.2 || order > 0.2) bad = 1 }
         { before = $at["l2"] }
         END { exit bad || NR != 7 }' "$work/disc.csv" || complain "--refine: $(cat "$work/disc.csv")"
run 0 "$sine" mesh.cells=4 --refine 0,1 --device cpu:1 --json
holds 'o["along"] == "refined" and [r["refined"] for r in o["runs"]] == [0, 1]'
holds '[r["elements"] for r in o["runs"]] == [16, 64] and "cells" not in o["runs"][0]'
holds 'o["orders"][0]["l2"] == o["runs"][1]["order"]["u"]["l2"]'
run 2 "$source/cases/project-disc.toml" --cells 2,4
says err '--refine 0,1,2'

# Several fields, another norm, the case's own degree; a name that CSV and XML must escape.
sed 's/^u = /"a<b, \\"c\\"" = /' "$sine" >"$work/named.toml"
run 0 "$work/named.toml" initial.v=cos\(x\) --cells 4,8 --norm linf --device cpu:1 \
    --csv "$work/named.csv" --svg "$work/named.svg"
says out 'linf error of v'
says out 'linf error of a<b, "c"'
grep -qF '"a<b, ""c""",3,4,,16,512,' "$work/named.csv" || complain "$(cat "$work/named.csv")"
grep -qF 'a&lt;b, "c", degree 3</text>' "$work/named.svg" || complain "the chart does not escape"
grep -qF 'sine on a square</text>' "$work/named.svg" || complain "the chart lacks the case's title"

# Degrees alone have errors but no order.
run 0 "$sine" --degrees 1,2,3 --device cpu:1 --svg "$work/degrees.svg"
awk '/order/ { exit 1 }' "$work/out" || complain "degrees alone have an order"
grep -qF 'degrees of freedom</text>' "$work/degrees.svg" || complain "degrees: the chart's axis"

# Orders in time, of a wave that a fast change of the velocity carries with it, on a mesh whose own
# error does not show.
cat >"$work/wave.toml" <<'CASE'
model = "advection"
[mesh]
shape = "quadrilateral"
cells = [6, 2]
periodic = ["x", "y"]
[space]
degree = 8
[advection]
velocity = ["1 + cos(40*t)", "0.5"]
[initial]
u = "sin(2*pi*x)"
[exact]
u = "sin(2*pi*(x - t - sin(40*t)/40))"
[time]
cfl = 0.3
end = 0.2
CASE
order=0
for scheme in euler ssp-rk2 ssp-rk3 rk4; do
    order=$((order + 1)) dt=0.001
    [ $scheme = rk4 ] && dt=0.004
    half=$(awk "BEGIN { print $dt / 2 }")
    run 0 "$work/wave.toml" time.scheme=$scheme --dt $dt,$half --device cpu:1 --json \
        --csv "$work/dt.csv" --svg "$work/dt.svg"
    holds "o['along'] == 'dt' and [r['dt'] for r in o['runs']] == [$dt, $half]"
    holds "len(o['orders']) == 1 and abs(o['orders'][0]['l2'] - $order) < 0.2"
    holds "o['runs'][0]['cells'] == [6, 2] and o['runs'][0]['degree'] == 8"
    awk -F, -v order=$order 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        NR == 3 { found = $at["order_l2"] - order }
        END { exit !(NR == 3 && found > -0.2 && found < 0.2) }' "$work/dt.csv" ||
        complain "$scheme: $(cat "$work/dt.csv")"
done
grep -qF 'time step dt</text>' "$work/dt.svg" || complain "dt: the chart's axis"

# Orders in space of a model with a time loop, for each dt; its own steps where there is no --dt.
run 0 "$work/wave.toml" --cells 4x1,8x2 --degrees 2 --dt 0.002,0.001 --device cpu:1 --json
holds 'o["along"] == "cells" and [(q["degree"], q["dt"]) for q in o["orders"]] ==
       [(2, 0.002), (2, 0.001)] and all(abs(q["l2"] - 3) < 0.3 for q in o["orders"])'
run 0 "$work/wave.toml" --cells 4x1,8x2 --degrees 2 --device cpu:1 --json
holds 'o["runs"][0]["dt"] is None and abs(o["orders"][0]["l2"] - 3) < 0.3'
run 0 "$work/wave.toml" time.dt=0.002 --cells 4x1,8x2 --degrees 2 --device cpu:1 --json
holds 'o["runs"][0]["dt"] == 0.002'

# A dt that is too large is named; the file has what came before it.
run 1 "$work/wave.toml" --dt 0.004,0.1 time.end=100 --device cpu:1 --csv "$work/large.csv"
says err 'at time 25.6, after 256 steps, u is not a number'
says err 'in run 2 of 2: dt 0.1'
[ "$(wc -l <"$work/large.csv")" -eq 2 ] || complain "large.csv: $(cat "$work/large.csv")"

# A sweep that is interrupted leaves whole files: the runs that were done, every row complete. (Shells
# have SIGINT ignored by what they start in the background; SIGTERM ends it the same way.)
mkdir "$work/stopped"
"$eagre" converge "$work/wave.toml" --cells 2x2,4x4,200x200 --degrees 1 --device cpu:1 \
    --csv "$work/stopped/a.csv" --svg "$work/stopped/a.svg" >"$work/out" 2>"$work/err" &
sweep=$!
for _ in $(seq 600); do
    [ "$(wc -l 2>/dev/null <"$work/stopped/a.csv")" = 3 ] && break
    sleep 0.1
done
kill -TERM $sweep
wait $sweep 2>/dev/null
[ $? -ne 0 ] || complain "a sweep that is interrupted ends well"
awk -F, 'NF != 15 { bad = 1 } END { exit bad || NR != 3 }' "$work/stopped/a.csv" ||
    complain "interrupted: $(cat "$work/stopped/a.csv")"
[ "$(ls "$work/stopped")" = a.csv ] || complain "interrupted: $(ls "$work/stopped")"

# Without [exact] there is no error, and nothing to draw.
sed '/exact/,/^u/d' "$work/wave.toml" >"$work/inexact.toml"
run 2 "$work/inexact.toml" --cells 2x2,4x4 --degrees 1 --device cpu:1
says err 'the case has no [exact]'

# Lists that are wrong.
wrong()
{
    text=$1
    shift
    run 2 "$sine" "$@"
    [ ! -s "$work/out" ] || complain "$*: something on standard output"
    says err "$text"
}
wrong 'nothing between two commas' --cells 8,,16
wrong 'nothing between two commas' --cells 8,16,
wrong 'nothing between two commas' --cells ,
wrong '"x" is not how often a mesh is refined' --refine 0,x
wrong '"-1" is not how often a mesh is refined' --refine=-1,0
wrong '"02" is not how often a mesh is refined' --refine 0,02
wrong '"1" is there twice' --refine 1,1
wrong 'both say what mesh.refine is' mesh.refine=1 --refine 0,1
wrong '--cells and --refine both say' --cells 4,8 --refine 0,1
wrong 'mesh.refine' --refine 0,99
wrong '"0" is not a number of cells' --cells 8,0
wrong '"-4" is not a number of cells' --cells=-4,8
wrong '"eight" is not a number of cells' --cells 4,eight
wrong '"8x" is not a number of cells' --cells 4,8x
wrong '"8x0" is not a number of cells' --cells 4,8x0
wrong '"2x2x2x2" is not a number of cells' --cells 4,2x2x2x2
wrong '"8.5" is not a number of cells' --cells 4,8.5
wrong '"9999999999" is not a number of cells' --cells 4,9999999999
wrong '"-1" is not a degree' --degrees 1,-1
wrong '"2.5" is not a degree' --degrees 1,2.5
wrong '"0" is not a time step' --dt 0.1,0
wrong '"-0.1" is not a time step' --dt 0.1,-0.1
wrong '"nan" is not a time step' --dt 0.1,nan
wrong '"1e-999" is not a time step' --dt 0.1,1e-999
wrong '"8" is there twice' --cells 8,16,8
wrong '"33" is one too many' --cells "$(seq -s , 1 33)"
wrong 'one run has no order' --cells 8
wrong 'one run has no order'
wrong 'the model "project" has no time.dt' --dt 0.1,0.05
wrong 'none of l1, l2, linf and nodal_l2' --cells 8,16 --norm h1
wrong 'both say what mesh.cells is' mesh.cells=4 --cells 8,16
wrong 'there is no directory' --cells 8,16 --csv "$work/none/a.csv"
wrong 'there is no directory' --cells 8,16 --svg "$work/none/a.svg"
wrong 'it is a directory' --cells 8,16 --csv "$work"
wrong 'the same file' --cells 8,16 --csv "$work/a" --svg "$work/a"
wrong 'unknown key "degre"' space.degre=2 --cells 8,16
# A degree that the case refuses is found before anything runs.
wrong 'space.degree' --degrees 1,99 --csv "$work/early.csv"
[ ! -e "$work/early.csv" ] || complain "a degree that is too high is found too late"
run 2 --cells 8,16
says err 'which case?'

# A run that fails is named, and what came before it is kept.
run 2 "$sine" mesh.shape=triangle --degrees 1,2,12 --cells 2,4 --device cpu:1 \
    --csv "$work/part.csv" --svg "$work/part.svg"
says err 'degree 12 is too high'
says err 'in run 5 of 6: degree 12 cells 2'
says out 'l2 error of u'
[ "$(wc -l <"$work/part.csv")" -eq 5 ] || complain "part.csv: $(cat "$work/part.csv")"
[ ! -e "$work/part.svg" ] || complain "a sweep that failed leaves a chart"
run 1 "$sine" 'initial.u=log(x - 2)' --cells 2,4 --device cpu:1 --json
says err 'in run 1 of 2: cells 2'
holds 'set(o) == {"error"}'

# Ranks: one table, one file, the same errors.
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    # MPI leaks from plug-ins that it unloads.
    mpirun="env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe"
    $mpirun -n 2 "$eagre" converge "$sine" --cells 8,16 --degrees 2 --device cpu:1 --json \
        --csv "$work/ranks.csv" --svg "$work/ranks.svg" >"$work/out" 2>"$work/err" ||
        complain "2 ranks failed"
    [ "$(wc -l <"$work/out")" -eq 1 ] || complain "2 ranks: not one line"
    [ "$(grep -c '^1/2 ' "$work/err")" -eq 1 ] || complain "2 ranks: progress is not shown once"
    holds 'o["ranks"] == 2 and abs(o["orders"][0]["l2"] - 3) < 0.2'
    [ "$(wc -l <"$work/ranks.csv")" -eq 3 ] || complain "2 ranks: the CSV file"
    [ -s "$work/ranks.svg" ] || complain "2 ranks: no chart"
    $mpirun -n 2 "$eagre" converge "$work/wave.toml" --cells 4x2,8x4 --degrees 2 --device cpu:1 \
        --json --csv "$work/ranks.csv" >"$work/out" 2>"$work/err" || complain "2 ranks failed"
    holds 'o["ranks"] == 2 and abs(o["orders"][0]["l2"] - 3) < 0.3'
    [ "$(wc -l <"$work/ranks.csv")" -eq 3 ] || complain "2 ranks: the CSV file"
    timeout 60 $mpirun -n 1 "$eagre" converge "$sine" --cells 8,16 --device cpu:1 : \
        -n 1 "$eagre" converge "$sine" --cells 8,32 --device cpu:1 >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || complain "ranks with different lists: not exit code 2"
fi

[ "$failures" -eq 0 ]
