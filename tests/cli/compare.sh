#!/bin/sh
# eagre compare: schemes side by side, CFL numbers found and given, files, JSON, going on after an
# interruption, ranks, and what is wrong.
#
#     compare.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
# shellcheck disable=SC2086 # $cpu is an option and its value
set -u
eagre=$1
source=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-compare-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
cp "$source/cases/euler-vortex.toml" "$work/vortex.toml"
cd "$work" || exit 1
cpu='--device cpu:1'

complain()
{
    echo "compare.sh: $*" >&2
    sed 's/^/    /' err >&2
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: eagre compare must end with CODE.
run()
{
    expected=$1
    shift
    "$eagre" compare "$@" >out 2>err
    code=$?
    [ "$code" -eq "$expected" ] || complain "eagre compare $* ended with $code, not $expected"
}

# says FILE TEXT: FILE contains TEXT.
says() { grep -qF -e "$2" "$1" || complain "$1 lacks: $2"; }
lacks() { ! grep -qF -e "$2" "$1" || complain "$1 has: $2"; }
runs_made() { grep -c ' CFL ' err; }

# Evaluates a Python expression on the object of the last run, as `o`, and on its settings, as `s`.
holds()
{
    command -v python3 >/dev/null || return 0
    python3 -c '
import json, math, sys
o = json.load(open("out"))
s = o["settings"]
sys.exit(0 if eval("(" + sys.argv[1] + ")") else 1)' "$1" || complain "does not hold: $1"
}

# Two schemes, two meshes, CFL numbers by halving: what is found, and what is written.
run 0 vortex.toml --schemes dg,sd --degrees 1 --cells 10,20 --cfl-digits 0 --repeat 2 $cpu
says out 'results compare-vortex'
says out 'nodal_l2 error of rho'
says out ', of the reference work on one core'
[ "$(grep -c '^ *1  [ds][gd] ' out)" -eq 4 ] || complain "not four lines: $(cat out)"
says err '1/4 dg degree 1 cells 10: trying CFL 0.4'
says err '4/4 sd degree 1 cells 20: timing CFL'
says err ' left'
for file in results.csv tables.md error-work-p1.svg work-points-p1.svg step-work-p1.svg bars-p1.svg; do
    [ -s compare-vortex/$file ] || complain "there is no $file"
done
says compare-vortex/tables.md '### Error of rho (nodal_l2), degree 1'
says compare-vortex/tables.md '### CFL number, degree 1'
[ "$(grep -c '<title>sd: ' compare-vortex/error-work-p1.svg)" -eq 2 ] || complain "not two points of sd"
[ "$(grep -c ' bar"' compare-vortex/bars-p1.svg)" -eq 4 ] || complain "not four bars"
if command -v xmllint >/dev/null; then
    xmllint --noout compare-vortex/*.svg 2>xml || complain "not XML: $(cat xml)"
fi
made=$(runs_made)
[ "$(grep -c '^[ds][gd],1,' compare-vortex/results.csv)" -eq "$made" ] ||
    complain "not a row for each of $made runs"

# All rows are there: nothing runs, and the table is the same. So it is with another tolerance, which asks
# other questions of the same runs.
grep '^ *1  [ds][gd] ' out >before
run 0 vortex.toml --schemes dg,sd --degrees 1 --cells 10,20 --cfl-digits 0 --repeat 2 $cpu
[ "$(runs_made)" -eq 0 ] || complain "runs that were there were made again: $(cat err)"
says out ', 0 runs in '
grep '^ *1  [ds][gd] ' out | cmp -s before - || complain "the table has changed: $(cat out)"

# JSON: one object, whose figures follow from each other.
run 0 vortex.toml --schemes dg,sd --degrees 1 --cells 10,20 --cfl-digits 0 --repeat 2 $cpu --json
[ "$(wc -l <out)" -eq 1 ] || complain "--json: not one line"
holds 'set(o) >= {"model", "device", "device_name", "ranks", "directory", "field", "tolerance",
                  "repeat", "reference_s", "runs_made", "runs_taken", "settings", "wall_s"}'
holds 'o["runs_made"] == 0 and o["runs_taken"] > 0 and o["reference_s"] is None'
holds '[(r["scheme"], r["degree"], r["cells"]) for r in s] ==
       [("dg", 1, [10]), ("sd", 1, [10]), ("dg", 1, [20]), ("sd", 1, [20])]'
holds 'all(r["outcome"] == "done" and not r["cfl_given"] for r in s)'
holds '[(r["elements"], r["points"], r["dof"]) for r in s] ==
       [(100, 400, 1600)] * 2 + [(400, 1600, 6400)] * 2'
holds 's[0]["order"] is None and s[1]["order"] is None'
holds 'all(abs(math.log2(s[i]["error"]["nodal_l2"] / s[i + 2]["error"]["nodal_l2"]) - s[i + 2]["order"])
           < 1e-12 for i in (0, 1))'
holds 'all(abs(r["step_s"] * r["steps"] / r["loop_s"] - 1) < 1e-12 and
           abs(r["step_work"] * r["steps"] / r["work"] - 1) < 1e-12 for r in s)'
# The figures of the paper: Table 2. Spectral differences take longer steps.
holds 'abs(s[2]["error"]["nodal_l2"] / 1.65e-3 - 1) < 0.01'
holds 'abs(s[3]["error"]["nodal_l2"] / 3.07e-3 - 1) < 0.01'
# Halving the CFL number changes the error by less than 0.1 %; doubling it does not.
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON' || complain "the rule does not hold"
import csv, json
o = json.load(open("out"))
errors = {}
for r in csv.DictReader(open("compare-vortex/results.csv")):
    key = (r["scheme"], int(r["degree"]), int(r["cells"]))
    error = float(r["nodal_l2"]) if r["outcome"] == "done" else None
    errors.setdefault(key, {})[float(r["cfl"])] = error
    if error:
        assert abs(float(r["loop_s"]) / float(r["reference_s"]) / float(r["work"]) - 1) < 1e-12, r
for s in o["settings"]:
    at = errors[s["scheme"], s["degree"], s["cells"][0]]
    def change(cfl):
        return abs(at[cfl] / at[cfl / 2] - 1) if at[cfl] and at[cfl / 2] else 1
    assert change(s["cfl"]) < 1e-3, (s, at)
    assert not change(2 * s["cfl"]) < 1e-3, (s, at)
PYTHON
fi

# A run gives what eagre run gives.
error=$(grep -o '"nodal_l2": [-+0-9.e]*' out | head -n 1)
cfl=$(grep -o '"cfl": [-+0-9.e]*' out | head -n 1)
"$eagre" run vortex.toml "mesh.cells=[10,10]" space.degree=1 scheme.method=dg "time.cfl=${cfl#*: }" $cpu \
    --json >one 2>err
grep -qF "$error" one || complain "$error is not what eagre run finds: $(cat one)"

# More digits: a CFL number between that of halving and its double.
run 0 vortex.toml --schemes dg --degrees 1 --cells 10 --repeat 1 $cpu --output digits --json
holds '0.2 <= s[0]["cfl"] < 0.8 and round(s[0]["cfl"], 2) == s[0]["cfl"]'

# CFL numbers that are given, for degrees and for schemes.
run 0 vortex.toml --schemes dg,sd --degrees 1,2 --cells 6 --cfl 0.2,0.1 --repeat 1 $cpu -o given --json
holds '[(r["scheme"], r["degree"], r["cfl"], r["cfl_given"]) for r in s] ==
       [("dg", 1, 0.2, True), ("sd", 1, 0.2, True), ("dg", 2, 0.1, True), ("sd", 2, 0.1, True)]'
holds 'o["runs_made"] == 4'
run 0 vortex.toml --schemes dg,sd --degrees 1,2 --cells 6 --cfl sd=0.3/0.15,0.2 --repeat 1 $cpu -o given --json
holds '[r["cfl"] for r in s] == [0.2, 0.3, 0.2, 0.15]'
holds 'o["runs_taken"] == 1 and o["runs_made"] == 3'

# Finite volumes have the order that goes with the degree, unless the case says which; and as many unknowns.
# finds ARGUMENT...: eagre run finds the error of one of the settings.
finds()
{
    "$eagre" run vortex.toml "mesh.cells=[6,6]" time.cfl=0.3 scheme.method=fv "$@" $cpu --json >one 2>err
    error=$(grep -o '"nodal_l2": [-+0-9.e]*' one | head -n 1)
    grep -qF "$error" out || complain "eagre run $* finds $error, not $(cat out)"
}
run 0 vortex.toml --schemes fv,dg --degrees 1,2 --cells 6 --cfl fv=0.3,0.1 --repeat 1 $cpu -o fv --json
holds '[r["points"] for r in s] == [144, 144, 324, 324]'
finds space.degree=1 scheme.order=2
finds space.degree=2 scheme.order=3
run 0 vortex.toml fv:scheme.order=2 dg:scheme.flux=roe --schemes fv,dg --degrees 2 --cells 6 --cfl fv=0.3,0.1 \
    --repeat 1 $cpu -o fv --json
finds space.degree=2 scheme.order=2
finds space.degree=2 scheme.method=dg scheme.flux=roe time.cfl=0.1
says fv/results.csv ',fv:scheme.order=2 dg:scheme.flux=roe,'

# A CFL number that is too large fails, and the others do not; where all fail, so does the command.
run 0 vortex.toml --schemes dg,sd --degrees 2 --cells 10 --cfl dg=3,sd=0.1 --repeat 2 $cpu --output large
says err 'warning: dg degree 2 cells 10: it is unstable at a CFL number of 3'
grep -q '^ *2  dg  *10  failed ' out || complain "not marked: $(cat out)"
says large/results.csv 'dg,2,10,3,1,unstable,'
run 1 vortex.toml --schemes dg --degrees 2 --cells 10 --cfl 3 --repeat 2 $cpu --output large
says err 'no setting has a result'

# Without [exact]: norms, no orders, no chart of errors.
grep -v '^[a-z]* = .*mod(' vortex.toml | grep -v '^\[exact\]' >blind.toml
run 0 blind.toml --schemes dg --degrees 1 --cells 6,12 --cfl-digits 0 --repeat 1 $cpu --json
holds 'all("norm" in r and "error" not in r and r["order"] is None for r in s)'
holds 'all(0.9 < r["norm"]["nodal_l2"] < 1 for r in s)'
[ -s compare-blind/work-points-p1.svg ] || complain "no chart without [exact]"
[ ! -e compare-blind/error-work-p1.svg ] || complain "a chart of errors without [exact]"

# Another case, other replacements: the old rows are moved aside, and it is said what differs.
rows=$(wc -l <compare-blind/results.csv)
run 0 blind.toml time.end=0.5 --schemes dg --degrees 1 --cells 6 --cfl 0.2 --repeat 1 $cpu
says err 'rows are of another comparison, which differs in the replacements on the command line'
says err 'compare-blind/results-1.csv'
[ "$(wc -l <compare-blind/results-1.csv)" -eq "$rows" ] || complain "rows were lost"
echo '# changed' >>blind.toml
run 0 blind.toml time.end=0.5 --schemes dg --degrees 1 --cells 6 --cfl 0.2 --repeat 1 $cpu
says err 'which differs in the case or its mesh'
[ -e compare-blind/results-2.csv ] || complain "the second was not moved aside"
[ "$(runs_made)" -eq 1 ] || complain "a foreign row was taken"
# --fresh makes every run again.
run 0 blind.toml time.end=0.5 --schemes dg --degrees 1 --cells 6 --cfl 0.2 --repeat 1 $cpu --fresh
[ "$(runs_made)" -eq 1 ] || complain "--fresh took a row"
[ -e compare-blind/results-3.csv ] || complain "--fresh did not keep the old rows"
# Half a line at the end is made again; a file of something else is left alone.
printf 'dg,1,6,0.2,2,do' >>compare-blind/results.csv
run 0 blind.toml time.end=0.5 --schemes dg --degrees 1 --cells 6 --cfl 0.2 --repeat 2 $cpu
says err 'ends in half a line'
[ "$(runs_made)" -eq 1 ] || complain "not one run behind half a line"
mkdir other && echo 'a,b' >other/results.csv
run 2 vortex.toml --schemes dg --degrees 1 --cells 6 --cfl 0.2 $cpu --output other
says err 'other/results.csv has other columns'
[ "$(cat other/results.csv)" = a,b ] || complain "a file of something else was touched"

# An interruption ends it after the run it is in; the same command goes on.
"$eagre" compare vortex.toml --schemes dg,sd --degrees 1 --cells 6,8 --cfl-digits 1 --repeat 2 $cpu --output long \
    >out 2>err &
pid=$!
tries=0
while [ "$(grep -c ' CFL ' err)" -lt 3 ] && [ "$tries" -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT "$pid"
wait "$pid"
code=$?
[ "$code" -eq 0 ] || complain "SIGINT: ended with $code"
says out 'stopped by SIGINT before its end; the same command goes on'
first=$(runs_made)
rows=$(($(wc -l <long/results.csv) - 1))
[ "$first" -ge 3 ] || complain "SIGINT: $first runs"
[ "$rows" -eq "$first" ] || complain "SIGINT: $rows rows of $first runs"
run 0 vortex.toml --schemes dg,sd --degrees 1 --cells 6,8 --cfl-digits 1 --repeat 2 $cpu --output long
lacks out 'stopped by'
second=$(runs_made)
rows=$(($(wc -l <long/results.csv) - 1))
[ "$rows" -eq $((first + second)) ] || complain "$first and $second runs, but $rows rows"
[ "$(cut -d, -f1-5 long/results.csv | sort | uniq -d | wc -l)" -eq 0 ] || complain "a run was made twice"

# A mesh from a file is the only one.
"$eagre" mesh generate vortex.toml "mesh.cells=[6,6]" --output mesh.msh >/dev/null 2>err || complain "no mesh"
sed 's/^shape = .*/file = "mesh.msh"/; /^cells/d; /^periodic/d; /^low/d; /^high/d' vortex.toml >file.toml
run 0 file.toml --schemes dg,ndg --degrees 1 --cfl 0.2 --repeat 1 $cpu --json
holds '[(r["cells"], r["elements"]) for r in s] == [([], 36)] * 2'
"$eagre" mesh generate vortex.toml "mesh.cells=[5,5]" --output mesh.msh >/dev/null 2>err || complain "no mesh"
run 0 file.toml --schemes dg,ndg --degrees 1 --cfl 0.2 --repeat 1 $cpu --json
says err 'which differs in the case or its mesh'
holds '[r["elements"] for r in s] == [25] * 2'
run 2 file.toml --cells 4,8 $cpu
says err 'the mesh of the case is read from a file'

# What is wrong on the command line.
wrong()
{
    text=$1
    shift
    run 2 "$@" --output wrong
    says err "$text"
    [ ! -e wrong ] || complain "a directory was made of what is wrong: $*"
}
wrong 'which case?'
wrong 'has no scheme "sdd"; did you mean "sd"?' vortex.toml --schemes dg,sdd
wrong 'There are dg, ndg, cpr' vortex.toml --schemes lax
wrong '"dg" is there twice' vortex.toml --schemes dg,dg
wrong 'nothing between two commas' vortex.toml --schemes dg,,sd
wrong 'this model has degrees from 1 to 8' vortex.toml --degrees 1,9
wrong 'with dg degree 9 cells 20' vortex.toml --schemes dg --degrees 9
wrong '"two" is not a degree' vortex.toml --degrees two
wrong '"many" is not a number of cells' vortex.toml --cells 10,many
wrong '"0" is not a number of cells' vortex.toml --cells 0
wrong 'both say what mesh.cells is' vortex.toml "mesh.cells=[4,4]" --cells 4,8
wrong 'both say what space.degree is' vortex.toml space.degree=2 --degrees 1,2
wrong 'both say what scheme.method is' vortex.toml scheme.method=dg
wrong 'both say what time.cfl is' vortex.toml time.cfl=0.1
wrong 'steps come from CFL numbers here' vortex.toml time.dt=0.1
wrong '2 CFL numbers (0.2,0.1) for 1 degree' vortex.toml --cfl 0.2,0.1
wrong '"sd" is none of --schemes' vortex.toml --schemes dg --cfl sd=0.1
wrong 'has no scheme "sdd"' vortex.toml --cfl sdd=0.1
wrong '"dg" is there twice' vortex.toml --cfl dg=0.1,dg=0.2
wrong '"-1" is not a CFL number' vortex.toml --cfl=-1
wrong '"" is not a CFL number' vortex.toml --cfl 0.1,
wrong '--cfl-digits: "7" is not a whole number from 0 to 6' vortex.toml --cfl-digits 7
wrong '--repeat: "0" is not' vortex.toml --repeat 0
wrong '--tolerance: "0" is not' vortex.toml --tolerance 0
wrong '--cfl-start: "x" is not' vortex.toml --cfl-start x
wrong 'the model "advection" has one scheme' "$source/cases/advection-bell.toml"
wrong 'unknown section [foo]' vortex.toml foo.bar=1
wrong 'unknown section [foo]' vortex.toml dg:foo.bar=1
wrong 'with dg degree 2 cells 20' vortex.toml dg:scheme.order=2
wrong 'has no scheme "lax"' vortex.toml lax:scheme.flux=roe
wrong 'it is for none of --schemes' vortex.toml --schemes dg sd:scheme.flux=roe
wrong 'meshes and steps are not for one scheme alone' vortex.toml "dg:mesh.cells=[4,4]"
run 2 vortex.toml --output vortex.toml $cpu
says err 'vortex.toml is no directory'
run 2 vortex.toml --output nowhere/results $cpu
says err 'cannot make the directory nowhere/results'

# Ranks: the same CFL numbers and errors, and rows that are the ranks' own.
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    # MPI leaks from plug-ins that it unloads.
    mpirun="env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe"
    run 0 vortex.toml --schemes dg,sd --degrees 1 --cells 10 --cfl-digits 0 --repeat 1 $cpu --output ranks --json
    mv out one
    for again in first second; do
        $mpirun -n 2 "$eagre" compare vortex.toml --schemes dg,sd --degrees 1 --cells 10 --cfl-digits 0 --repeat 1 $cpu \
            --output ranks --json >out 2>err || complain "2 ranks: ended with $?"
        [ "$(wc -l <out)" -eq 1 ] || complain "2 ranks: not one object: $(cat out)"
        holds 'o["ranks"] == 2'
        holds 'all(r["cfl"] == q["cfl"] and abs(r["error"]["l2"] / q["error"]["l2"] - 1) < 1e-9
                   for r, q in zip(s, json.load(open("one"))["settings"]))'
        [ "$again" = second ] || says err 'which differs in the number of ranks'
    done
    [ "$(runs_made)" -eq 0 ] || complain "2 ranks: runs were made again"
fi

[ "$failures" -eq 0 ]
