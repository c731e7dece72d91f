#!/bin/sh
# `eagre info` of files of fields: eagre's own and others', alone, in pieces and in series; what is wrong
# with a file is said with its line, and the exit code is 2.
#
#   info.sh EAGRE SOURCE-DIR
set -u
eagre=$1
source=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-info-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
corpus=$source/tests/fuzz/corpus/vtu
failures=0

fail() {
    echo "FAILED: $*"
    sed 's/^/    stdout: /' out
    sed 's/^/    stderr: /' err
    failures=$((failures + 1))
}

# run CODE ARGUMENT...: the command must end with CODE.
run() {
    expected=$1
    shift
    "$eagre" "$@" >out 2>err
    code=$?
    [ "$code" -eq "$expected" ] || fail "eagre $* ended with $code, not $expected"
}

# says FILE TEXT: what came out of the last run contains TEXT.
says() {
    grep -qF -e "$2" "$1" || fail "$1 lacks: $2"
}

# Evaluates a Python expression on the object of the last run, as `o`.
holds() {
    command -v python3 >/dev/null || return
    python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' out "$1" || fail "does not hold: $1"
}

cp "$corpus/own-01" own.vtu # a curved quadrilateral of degree 2, values of degree 2
run 0 info own.vtu
if grep -q "without zlib" err; then exit 77; fi
says out "own.vtu"
says out "0.5, step 3"
says out "1, each a quadrilateral of degree 2"
says out "density"
says out "kg/m³"
run 0 info own.vtu --json
holds "o['kind'] == 'vtu' and o['time'] == 0.5 and o['step'] == 3 and o['dim'] == 2"
holds "o['elements'] == [{'shape': 'quadrilateral', 'degree': 2, 'value_degree': 2, 'count': 1}]"
holds "o['nodes'] == 9 and o['pieces'] == 1 and len(o['low']) == 2 and len(o['high']) == 2"
holds "[f['name'] for f in o['fields']] == ['density', 'momentum']"
holds "o['fields'][0]['unit'] == 'kg/m³' and o['fields'][0]['least'] < o['fields'][0]['most']"

# Others' files: without time, degrees of values or units; with values that are no numbers.
cp "$corpus/form-00" other.vtu
run 0 info other.vtu --json
holds "[(e['shape'], e['degree'], e['count']) for e in o['elements']] == [('triangle', 1, 1), ('quadrilateral', 1, 1)]"
holds "o['low'] == [0, 0] and o['high'] == [2, 1]"
holds "[(f['name'], f['least'], f['most']) for f in o['fields']][2] == ('v_x', 0.5, 4.5)"
cp "$corpus/pieces" pieces.vtu
run 0 info pieces.vtu
says out "4 to 6; 3 values are not finite"

# Pieces and series.
cat >all.pvtu <<END
<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid>
<Piece Source="own.vtu"/><Piece Source="own.vtu"/>
</PUnstructuredGrid></VTKFile>
END
run 0 info all.pvtu
says out "2, each a quadrilateral of degree 2"
says out "pieces       2"
cat >series.pvd <<END
<VTKFile type="Collection"><Collection>
<DataSet timestep="0.25" file="missing.vtu"/><DataSet timestep="0.5" file="all.pvtu"/>
</Collection></VTKFile>
END
run 0 info series.pvd
says out "2, times 0.25 to 0.5; the last of them:"
says out "2, each a quadrilateral of degree 2"
run 0 info series.pvd --json
holds "o['kind'] == 'series' and [f['time'] for f in o['files']] == [0.25, 0.5]"
holds "o['last']['pieces'] == 2"

# What is wrong.
run 2 info
says err "name one file"
run 2 info missing.vtu
says err "missing.vtu: No such file"
head -n 8 own.vtu >cut.vtu
run 2 info cut.vtu
says err "cut.vtu:9: error: the file ends within <Piece> of line 8"
echo 'model = "project"' >case.toml
run 2 info case.toml
says err 'for cases there is "eagre check"'
echo '$MeshFormat' >a.msh
run 2 info a.msh
says err 'for meshes there is "eagre mesh info"'
sed 's/missing.vtu/a.vtu/; s/all.pvtu/b.vtu/' series.pvd >broken.pvd
run 2 info broken.pvd
says err "b.vtu: No such file"
run 2 info cut.vtu --json
holds "'cut.vtu:9: error:' in o['error']['message']"

[ "$failures" -eq 0 ]
