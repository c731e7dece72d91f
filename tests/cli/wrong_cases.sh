#!/bin/sh
# Every kind of wrong case file ends with exit code 2 and a message that shows the place with a caret
# and says what to do.
#
#     wrong_cases.sh COMMAND
set -u
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-wrong-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
kinds=0

complain()
{
    echo "wrong_cases.sh: $1: $2" >&2
    sed 's/^/    /' "$work/err" >&2
    failures=$((failures + 1))
}

# wrong WHAT PLACE PHRASE [ARGUMENT...]: the case is refused at PLACE (line:column, line: or - for none) with
# PHRASE in the message.
wrong()
{
    what=$1 place=$2 phrase=$3
    shift 3
    kinds=$((kinds + 1))
    "$eagre" check "$work/case.toml" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq 2 ] || complain "$what" "exit code $code"
    [ ! -s "$work/out" ] || complain "$what" "something on standard output"
    case $place in
    -) ;;
    *:) grep -q "case.toml:$place[0-9]*: error: " "$work/err" || complain "$what" "not at $place" ;;
    *) grep -qF "case.toml:$place: error: " "$work/err" || complain "$what" "not at $place" ;;
    esac
    grep -qF -e "$phrase" "$work/err" || complain "$what" "does not say \"$phrase\""
    [ "$place" = - ] || grep -q '^ *| *^~*$' "$work/err" || complain "$what" "no caret"
}

# A case that is right, to be spoilt by each of the tests below.
good()
{
    cat <<'END'
model = "project"
[mesh]
shape = "triangle"
cells = [4, 4]
[space]
degree = 3
[initial]
u = "sin(pi*x)"
END
}
good >"$work/case.toml"
"$eagre" check "$work/case.toml" >"$work/out" 2>"$work/err" || complain "the good case" "is refused"

spoil() { good | sed "$1"; }

spoil 's/degree/degre/' >"$work/case.toml"; wrong 'unknown key' 6:1 'did you mean "degree"?'
spoil 's/\[space\]/[spce]/' >"$work/case.toml"; wrong 'unknown section' 5:2 'did you mean [space]?'
spoil 's/"project"/"projct"/' >"$work/case.toml"; wrong 'unknown model' 1:9 'did you mean "project"?'
spoil '1d' >"$work/case.toml"; wrong 'no model' - 'model'
spoil 's/= 3/= "three"/' >"$work/case.toml"; wrong 'string for integer' 6:10 'integer'
spoil 's/= 3/= 3.5/' >"$work/case.toml"; wrong 'real for integer' 6:10 'integer'
spoil 's/= 3/= true/' >"$work/case.toml"; wrong 'boolean for integer' 6:10 'integer'
spoil 's/= 3/= 40/' >"$work/case.toml"; wrong 'out of range' 6:10 'from 0 to 15'
spoil 's/= 3/= -1/' >"$work/case.toml"; wrong 'below range' 6:10 'from 0 to 15'
spoil 's/= 3/= 12/' >"$work/case.toml"; wrong 'degree too high for the shape' 6:10 'at most 10'
spoil 's/"triangle"/"triangel"/' >"$work/case.toml"; wrong 'unknown choice' 3:9 'did you mean "triangle"?'
spoil 's/"triangle"/3/' >"$work/case.toml"; wrong 'number for choice' 3:9 'string'
spoil 's/\[4, 4\]/[4, 4, 4]/' >"$work/case.toml"; wrong 'three counts in two dimensions' 4:9 '2'
spoil 's/\[4, 4\]/[4, "4"]/' >"$work/case.toml"; wrong 'wrong type in array' 4:13 'integer'
spoil 's/\[4, 4\]/[4, 0]/' >"$work/case.toml"; wrong 'zero cells' 4:13 'from 1'
spoil 's/\[4, 4\]/[]/' >"$work/case.toml"; wrong 'empty array' 4:9 'cells'
spoil '/cells/d' >"$work/case.toml"; wrong 'a required key is missing' - 'cells'
spoil 's/sin(pi\*x)/sin(pi*x/' >"$work/case.toml"; wrong 'bracket never closed' 8:9 'never closed'
spoil 's/sin(pi\*x)/sin(pi*w)/' >"$work/case.toml"; wrong 'unknown variable' 8:13 'w'
spoil 's/sin(pi\*x)/sni(pi*x)/' >"$work/case.toml"; wrong 'unknown function' 8:6 "did you mean 'sin'?"
spoil 's/sin(pi\*x)/sin(x, y)/' >"$work/case.toml"; wrong 'too many arguments' 8: 'argument'
spoil 's/sin(pi\*x)/2x/' >"$work/case.toml"; wrong 'missing operator' 8: '*'
spoil 's/sin(pi\*x)/x = 1/' >"$work/case.toml"; wrong 'assignment for comparison' 8: '=='
spoil 's/sin(pi\*x)/x ** 2/' >"$work/case.toml"; wrong 'Fortran power' 8: '^'
spoil 's/sin(pi\*x)/0 < x < 1/' >"$work/case.toml"; wrong 'chained comparison' 8: '&&'
spoil 's/"sin(pi\*x)"/""/' >"$work/case.toml"; wrong 'empty expression' 8:6 'expression'
spoil '6a degree = 4' >"$work/case.toml"; wrong 'duplicate key' 7:1 'degree'
spoil '8a [mesh]' >"$work/case.toml"; wrong 'duplicate section' 9:2 'mesh'
spoil 's/"triangle"/"triangle/' >"$work/case.toml"; wrong 'string never closed' 3: 'string'
spoil 's/cells = /cells /' >"$work/case.toml"; wrong 'no equals sign' 4: '='
spoil 's/\[mesh\]/[mesh/' >"$work/case.toml"; wrong 'section never closed' 2: ']'
spoil 's/= 3/= 3 4/' >"$work/case.toml"; wrong 'two values' 6: '3'
spoil 's/= 3/= 99999999999999999999/' >"$work/case.toml"; wrong 'integer beyond 64 bits' 6:10 'integer'
spoil 's/= 3/= 1979-05-27/' >"$work/case.toml"; wrong 'a date' 6:10 'date'
spoil "s/sin(pi\\*x)/$(printf '\377')/" >"$work/case.toml"; wrong 'bad UTF-8' 8: 'UTF-8'
spoil "s/sin(pi\\*x)/$(printf '\001')/" >"$work/case.toml"; wrong 'control character' 8: 'control'
spoil 's/sin(pi\*x)/\\q/' >"$work/case.toml"; wrong 'unknown escape' 8: 'escape'
spoil "s/\\[4, 4\\]/$(printf '[%.0s' $(seq 200))/" >"$work/case.toml"; wrong 'deep nesting' 4: 'deep'
spoil "s/sin(pi\\*x)/$(printf '(%.0s' $(seq 2000))/" >"$work/case.toml"; wrong 'deep brackets' 8: 'deep'
spoil '4a low = [1, 1]\nhigh = [0, 2]' >"$work/case.toml"; wrong 'box inside out' 6: 'low'
spoil '4a map = ["x"]' >"$work/case.toml"; wrong 'one map for two coordinates' 5:7 '2'
spoil '4a map = ["-x", "y"]' >"$work/case.toml"; wrong 'map turns elements inside out' 5: 'inside out'
spoil '4a periodic = ["z"]' >"$work/case.toml"; wrong 'periodic along an axis that is not there' 5: 'z'
spoil '4a perturb = 0.9' >"$work/case.toml"; wrong 'perturbation too large' 5:11 '0.45'
spoil '6a basis = "gauss"' >"$work/case.toml"; wrong 'basis that the shape lacks' 7:9 'gauss'
spoil '8a [exact]\nw = "x"' >"$work/case.toml"; wrong 'exact solution of no field' 10:1 'w'
spoil '/u = /d' >"$work/case.toml"; wrong 'no field' - 'initial'
spoil '1a [constants]\nx = 2' >"$work/case.toml"; wrong 'constant named like a variable' 3:1 'x'
spoil '1a [constants]\na = "b"' >"$work/case.toml"; wrong 'constant of unknown constant' 3: 'b'
spoil 's/"triangle"/nonsense/' >"$work/case.toml"; wrong 'bare word in a file' 3:9 'quotes'
printf 'model = "project"\r\n[mesh]\rcells = 1\n' >"$work/case.toml"; wrong 'carriage return alone' 2: ''
: >"$work/case.toml"; wrong 'empty file' - 'model'

# Degrees of advection: a list in a file beside the case, and adaptation.
cat >"$work/advection.toml" <<'END'
model = "advection"
[mesh]
shape = "quadrilateral"
cells = [2, 2]
[space]
degree = 3
[advection]
velocity = [1, 1]
[initial]
u = "x"
[time]
dt = 0.1
end = 1.0
END
degrees() { sed "$1" "$work/advection.toml" >"$work/case.toml"; printf '%b' "${2:-}" >"$work/list.txt"; }
list='8a degree_file = "list.txt"'
degrees "$list" '1 2 # two\n3 0\n'
"$eagre" check "$work/case.toml" >"$work/out" 2>"$work/err" || complain "a list of degrees" "is refused"
degrees "$list" '1 2 3'; wrong 'list too short' 9:15 'has 3 degrees, and the mesh has 4 elements'
degrees "$list" '1 2 3\n0 1'; wrong 'list too long' 9:15 'list.txt:2: "1" is one degree too many'
degrees "$list" '1\n4\n3\n0'; wrong 'degree above the highest' 9:15 'list.txt:2: "4" is no degree'
degrees "$list" '1 2 -1 3'; wrong 'negative degree' 9:15 'list.txt:1: "-1" is no degree'
degrees "$list" '1 2 two 3'; wrong 'word in a list' 9:15 'list.txt:1: "two" is no degree'
degrees "$list" '\0001\0377\0000'; wrong 'binary list' 9:15 'list.txt:1: '
degrees '8a degree_file = "none.txt"'; wrong 'no list' 9:15 'cannot open '
degrees "8a degree = 1\ndegree_file = 'list.txt'" '1 2 3 0'; wrong 'degrees twice' 10:15 'leave one of the two out'
degrees '8a degree = "0/0"'; wrong 'degree that is no number' 9: 'not a number'
degrees '8a degree = "t + 2"'; wrong 'degree that changes in time' 9: 'do not change in time'
degrees 's/\[1, 1\]/[1, "z"]/'; wrong 'depth of a plane' 8: 'uses z on a mesh in 2 dimensions'
degrees '13a [adapt]\nenabled = true\nleast = 4'; wrong 'least above the highest' 16:9 'space.degree = 3'
degrees '13a [adapt]\nenabled = true\nleast = 0'; wrong 'adapting constants' 16:9 'from 1'
degrees '13a [adapt]\nenabled = true\nlower = 0.5'; wrong 'no hysteresis' 16:9 'less than adapt.raise'
degrees '13a [adapt]\nenabled = true\nevery = 0'; wrong 'every 0 steps' 16:9 'every'
degrees '13a [adapt]\nleast = 2'; wrong 'adaptation that is not on' 15:9 'adapt.enabled = true'
degrees 's/"quadrilateral"/"hexahedron"/;s/\[2, 2\]/[3, 3, 3]\nperturb = 0.2/;s/\[1, 1\]/[1, 1, 1]/;$a [adapt]\nenabled = true'
wrong 'mass would be lost by adaptation' - 'adapt.least = 2'

# Quadrature and the limiter of advection.
for points in 'extra_points = 0' 'quadrature = "lobatto"\nextra_points = 1'; do
    degrees "s/\"quadrilateral\"/\"hexahedron\"/;s/\\[2, 2\\]/[3, 3, 3]\nperturb = 0.2/;s/degree = 3/degree = 0/;s/\\[1, 1\\]/[1, 1, 1]\n$points/"
    wrong 'mass would be lost by few points' - 'would lose mass with so few points'
done
degrees '8a quadrature = "lobatto"\nextra_points = 0'; wrong 'too few points' 10:16 'at least N + 2'
degrees '8a extra_points = 9'; wrong 'too many points' 9:16 'from 0 to 4'
limiter() { degrees "s/dt = 0.1/&\nscheme = \"ssp-rk3\"/;\$a [limiter]\n$1"; }
limiter 'bounds = "initial"'
"$eagre" check "$work/case.toml" >"$work/out" 2>"$work/err" || complain "a limiter" "is refused"
limiter 'bounds = "given"'; wrong 'no bounds' 16:10 'Give limiter.low'
limiter 'bounds = "given"\nlow = []'; wrong 'empty bounds' - 'Give limiter.low'
limiter 'low = 0'; wrong 'bounds of no limiter' 16:7 'did you mean bounds = "given"?'
limiter 'bounds = "initial"\nhigh = 1'; wrong 'bounds given twice' 17:8 'did you mean bounds = "given"?'
limiter 'bounds = "given"\nlow = 2\nhigh = 1'; wrong 'bounds upside down' 18:8 'nothing is between'
limiter 'bounds = "given"\nlow = [0, 0]'; wrong 'bounds of two tracers' 17:7 'one for each'
limiter 'bounds = "initial"\n[source]\nu = "1"'; wrong 'source with a limiter' 17: 'source'
degrees '$a [limiter]\nbounds = "initial"'; wrong 'scheme that keeps no bounds' - '"ssp-rk3"'
limiter 'bounds = "initial"'; sed -i 's/dt = 0.1/cfl = 1.5/' "$work/case.toml"
wrong 'steps too long for bounds' 12:7 'at most'

# wrong_run WHAT PLACE PHRASE: the same for what only a run can tell.
wrong_run()
{
    kinds=$((kinds + 1))
    "$eagre" run "$work/case.toml" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq 2 ] || complain "$1" "exit code $code"
    grep -qF "case.toml:$2: error: " "$work/err" || complain "$1" "not at $2"
    grep -qF -e "$3" "$work/err" || complain "$1" "does not say \"$3\""
}
limiter 'bounds = "initial"'; wrong_run 'a step that loses bounds' 12:6 'steps of 0.0416666667 at most, not of 0.1'
limiter 'bounds = "given"\nlow = 0.1'; wrong_run 'initial values below the bounds' 17:7 'u begins with values from 0 to 1'
limiter 'bounds = "given"\nhigh = 0.9'; wrong_run 'initial values above the bounds' 17:8 'u begins with values from 0 to 1'
limiter 'bounds = "initial"'; sed -i 's/u = "x"/u = "0\/(x - x)"/' "$work/case.toml"
wrong_run 'no bounds of what is no number' 10:5 'not a finite number'
limiter 'bounds = "initial"\n[boundary.left]\ntype = "inflow"\nu = "2 - y"'
sed -i 's/dt = 0.1/dt = 0.01/' "$work/case.toml"; wrong_run 'inflow above the bounds' 19:5 'out of the bounds of u'
limiter 'bounds = "given"\nlow = 0\n[boundary.left]\ntype = "inflow"\nu = "y - 1"'
sed -i 's/dt = 0.1/dt = 0.01/' "$work/case.toml"; wrong_run 'inflow below the only bound' 20:5 'out of the bounds of u'
limiter 'bounds = "initial"'; sed -i 's/u = "x"/u = "2"/;s/dt = 0.1/dt = 0.01/' "$work/case.toml"
"$eagre" run "$work/case.toml" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain 'no inflow below the bounds' 'is not refused'
grep -q 'boundary\..*\.u.*0 comes in' "$work/err" || complain 'no inflow below the bounds' 'does not say so'
degrees ''
"$eagre" converge "$work/case.toml" --cells 2,4 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain 'orders without [exact]' 'is not refused'
grep -q 'in run 1' "$work/err" && complain 'orders without [exact]' 'is noticed after a run'

# Meshes from files: a square of two triangles, one inside out, and one that is no file.
cat >"$work/square.msh" <<'END'
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 1 "left"
1 2 "rest"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
6
1 1 2 1 1 4 1
2 1 2 2 2 1 2
3 1 2 2 2 2 3
4 1 2 2 2 3 4
5 2 2 9 1 1 3 2
6 2 2 9 1 1 3 4
$EndElements
END
sed 's/1 3 4$/1 3 3/' "$work/square.msh" >"$work/flat.msh"
echo nonsense >"$work/nonsense.msh"
from_file() { good | sed "3d; s/cells = .*/$1/"; }
from_file 'file = "square.msh"' >"$work/case.toml"
"$eagre" run "$work/case.toml" >"$work/out" 2>"$work/err" || complain "a mesh from a file" "is refused"
grep -qF '1 of 2 elements were inside out' "$work/err" || complain "a mesh from a file" "is repaired in silence"
from_file 'file = "none.msh"' >"$work/case.toml"; wrong 'no mesh file' 3:8 'none.msh'
from_file 'file = "nonsense.msh"' >"$work/case.toml"; wrong 'nonsense for a mesh' 3:8 'nonsense.msh'
from_file 'file = "flat.msh"' >"$work/case.toml"; wrong 'a vertex twice' 3:8 'element 6 (triangle, group "group_9")'
from_file 'file = "square.msh"\njoin = ["left", "rest"]' >"$work/case.toml"; wrong 'sides that do not fit' 4:9 'cannot be periodic'
from_file 'file = "square.msh"\njoin = ["left", "rst"]' >"$work/case.toml"; wrong 'unknown side' 4:9 'Did you mean "rest"?'
from_file 'file = "square.msh"\njoin = ["left"]' >"$work/case.toml"; wrong 'half a pair' 4:8 'in pairs'
from_file 'file = "square.msh"\ncells = 4' >"$work/case.toml"; wrong 'cells of a file' 4:9 'is for boxes'
from_file 'file = "square.msh"\norder = 12' >"$work/case.toml"; wrong 'order of a file' 4:9 'order 1 to 10'
from_file 'file = "square.msh"\nmap = ["x"]' >"$work/case.toml"; wrong 'short map of a file' 4: '2'
from_file 'file = "square.msh"\nmap = ["x", "-y"]' >"$work/case.toml"; wrong 'map that turns over' 4:7 'is inside out'
spoil '4a merge = true' >"$work/case.toml"; wrong 'merge without a file' 5:9 'mesh.file is missing'
degrees '3d;s/cells = .*/file = "square.msh"/'; wrong 'advection on triangles' 3:8 'this model needs "quadrilateral"'

# On the command line.
good >"$work/case.toml"; wrong 'unknown key on the command line' - 'did you mean "degree"?' space.degre=4
good >"$work/case.toml"; wrong 'wrong value on the command line' - 'integer' space.degree=high
good >"$work/case.toml"; wrong 'out of range on the command line' - 'from 0 to 15' space.degree=99
good >"$work/case.toml"; wrong 'not a replacement' - 'section.key=value' degree
good >"$work/case.toml"; wrong 'empty value' - 'degree' space.degree=
good >"$work/case.toml"; wrong 'unknown section on the command line' - 'spice' spice.degree=3

# Files that cannot be read.
for file in "$work/none.toml" "$work"; do
    "$eagre" check "$file" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -ne 0 ] || complain "$file" "exit code $code"
    grep -qF "$file" "$work/err" || complain "$file" "is not named"
done

echo "$kinds kinds of wrong cases"
[ "$failures" -eq 0 ]
