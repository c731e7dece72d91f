#!/bin/sh
# What runs leave behind: fields, series, probes, integrals, lines, and what is said of wrong wishes.
#
#     output.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -u
eagre=$1
source=${2:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-output-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
: >err

complain()
{
    echo "output.sh: $*" >&2
    sed 's/^/    /' err >&2
    failures=$((failures + 1))
}

code()
{
    expected=$1
    shift
    "$@" >out 2>err
    got=$?
    [ "$got" -eq "$expected" ] || complain "$*: exit code $got, not $expected"
}

says() { grep -qF -- "$1" err || complain "standard error lacks \"$1\""; }

# column NAME FILE: the values of a column of a CSV file.
column()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
                          at { print $at }' "$2"
}

# all EXPRESSION FILE: the expression of awk holds for every line.
all() { awk "{ if (!($1)) exit 1 }" "$2"; }

cpu="--device cpu:1"

# A tracer that is linear in space and carried through: what every number must be is known. u = x + 2y - 3t
# with velocity (1, 1); degree 1 is exact, but for time, in which it is linear, too.
cat >linear.toml <<'END'
model = "advection"
[constants]
rate = 3
[mesh]
shape = "quadrilateral"
cells = [4, 3]
high = [2.0, 1.0]
perturb = 0.2
[space]
degree = 2
[time]
end = 0.3
cfl = 0.2
[advection]
velocity = ["1", "1"]
[initial]
u = "x + 2*y"
[exact]
u = "x + 2*y - rate*t"
[boundary.left]
type = "inflow"
u = "x + 2*y - rate*t"
[boundary.bottom]
type = "inflow"
u = "x + 2*y - rate*t"
[output.series]
time = 0.05
[output.fields]
time = 0.1
[output.quantities]
square = "u^2"
[output.integral.mass]
of = "u"
unit = "kg"
[output.integral.mean]
of = "u"
kind = "mean"
[output.integral.size]
of = "1"
[output.integral.perimeter]
of = "1"
over = ["left", "right", "bottom", "top"]
[output.integral.gauss]
of = "x*nx + y*ny"
over = ["left", "right", "bottom", "top"]
[output.integral.high]
of = "u + rate*t"
kind = "most"
[output.integral.low]
of = "u + rate*t"
kind = "least"
[output.integral.wrong]
of = "u - (x + 2*y - rate*t)"
kind = "linf"
[output.integral.slope]
of = "u_x^2 + u_y^2 + 0*u_z"
kind = "mean"
[output.integral.flux]
of = "u_x*nx + u_y*ny"
over = ["top", "right"]
[output.integral.right]
of = "u + rate*t - 2"
kind = "l2"
over = ["right"]
[output.probe.a]
at = [1.3, 0.4]
of = ["u", "u - (x + 2*y - rate*t)"]
[output.probe.cut]
from = [0.0, 0.5]
to = [2.0, 0.5]
points = 11
END

# check_linear DIRECTORY: the numbers.
check_linear()
{
    csv=$1/series.csv
    [ "$(wc -l <"$csv")" -eq 8 ] || complain "$1: not a header and seven rows"
    head -n 1 "$csv" | grep -q '^step,time,dt,mass \[kg\],mean,size,' || complain "$1: header"
    column time "$csv" >times
    printf '0\n0.05\n0.1\n0.15\n0.2\n0.25\n0.3\n' | cmp -s - times ||
        complain "$1: rows are not at multiples of 0.05"
    column mean "$csv" | paste times - >two
    all '($2 - (2 - 3 * $1)) ^ 2 < 1e-24' two || complain "$1: mean"
    column size "$csv" >one && all '($1 - 2) ^ 2 < 1e-26' one || complain "$1: area"
    column perimeter "$csv" >one && all '($1 - 6) ^ 2 < 1e-26' one || complain "$1: perimeter"
    column gauss "$csv" >one && all '($1 - 4) ^ 2 < 1e-26' one || complain "$1: divergence theorem"
    column high "$csv" >one && all '($1 - 4) ^ 2 < 1e-20' one || complain "$1: most"
    column low "$csv" >one && all '$1 ^ 2 < 1e-20' one || complain "$1: least"
    column wrong "$csv" >one && all '$1 < 1e-11' one || complain "$1: the error"
    column right "$csv" >one && all '($1 - sqrt(4 / 3)) ^ 2 < 1e-20' one || complain "$1: l2"
    column slope "$csv" >one && all '($1 - 5) ^ 2 < 1e-18' one || complain "$1: derivatives"
    column flux "$csv" >one && all '($1 - 5) ^ 2 < 1e-18' one || complain "$1: flux"
    column a.u "$csv" | paste times - >two
    all '($2 - (2.1 - 3 * $1)) ^ 2 < 1e-22' two || complain "$1: the probe"
    [ "$(ls "$1"/lines | wc -l)" -eq 7 ] || complain "$1: not seven lines"
    last=$(ls "$1"/lines/cut-*.csv | tail -n 1)
    sed 1d "$last" | tr , ' ' >line
    [ "$(wc -l <line)" -eq 11 ] || complain "$1: points of the line"
    all '($1 - $2) ^ 2 < 1e-28 && $3 == 0.5 && ($4 - ($2 + 1 - 0.9)) ^ 2 < 1e-22' line ||
        complain "$1: values along the line"
    [ "$(grep -c DataSet "$1/fields.pvd")" -eq 4 ] || complain "$1: not four times of fields"
    grep -q 'timestep="0.3"' "$1/fields.pvd" || complain "$1: the last time"
    grep -q '"directory"' "$1/summary.json" || complain "$1: summary.json"
}

code 0 "$eagre" check linear.toml
for device in $("$eagre" devices | awk 'NR > 1 { print $1 }'); do
    directory=on-$(echo "$device" | tr -d :)
    code 0 "$eagre" run linear.toml --device "$device" output.directory="$directory"
    grep -q "^results $directory" out || complain "the summary does not say where results are"
    check_linear "$directory"
    code 0 "$eagre" info "$directory/fields.pvd"
done
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    for ranks in 2 3; do
        code 0 env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe -n $ranks \
            "$eagre" run linear.toml $cpu output.directory=ranks$ranks
        check_linear ranks$ranks
    done
fi

# Degrees that change while it runs.
code 0 "$eagre" run linear.toml $cpu output.directory=adapted adapt.enabled=true space.degree=3
check_linear adapted

# … and really do: what is measured lives on spaces that come and go.
code 0 "$eagre" run "$source/cases/advection-adapt.toml" $cpu output.directory=moving time.end=0.3 \
    output.series.steps=1 output.integral.mass.of=u 'output.probe.a.at=[5,5]' guard.steps=1
column mass moving/series.csv | awk 'NR == 1 { first = $1 } ($1 - first) ^ 2 > 1e-20 { exit 1 }' ||
    complain "adapted: the mass changes"

# Without wishes nothing is written; the default directory is the case's name.
sed '/^\[output/,$d' linear.toml >plain.toml
code 0 "$eagre" run plain.toml $cpu
[ -z "$(ls -d plain.out 2>/dev/null)" ] || complain "something was written that nobody asked for"
code 0 "$eagre" run plain.toml $cpu output.fields.end=true
[ "$(ls plain.out/fields | wc -l)" -eq 1 ] || complain "not the end alone"
code 0 "$eagre" converge linear.toml --cells 4x3,8x6 $cpu
[ ! -e linear.out ] || complain "converge left results"

# A model without time has fields, too.
cat >sine.toml <<'END'
model = "project"
[mesh]
cells = [4, 4]
[space]
degree = 2
[initial]
u = "sin(x)"
[output.fields]
end = true
END
code 0 "$eagre" run sine.toml $cpu
[ -s sine.out/fields/00000000.vtu ] || complain "no fields of a projection"
code 2 "$eagre" run sine.toml $cpu output.checkpoint.steps=1
code 2 "$eagre" run sine.toml $cpu --restart sine.out

# Late times: rows are where they are asked for.
code 0 "$eagre" run plain.toml $cpu output.directory=late time.start=1e7 time.end=10000000.3 \
    output.series.time=0.1 constants.rate=0
column time late/series.csv | awk '{ printf "%.6f\n", $1 - 1e7 }' >times
printf '0.000000\n0.100000\n0.200000\n0.300000\n' | cmp -s - times ||
    complain "rows of a late start are not at multiples of 0.1"

# Lines are CSV whatever the titles and values are.
code 0 "$eagre" run plain.toml $cpu output.directory=titles output.series.steps=1000000 \
    'output.probe.l.from=[0,0.3]' 'output.probe.l.to=[4,0.3]' output.probe.l.points=3 \
    'output.probe.l.of=["u\n+ 0", "-u"]'
last=$(ls titles/lines/*.csv | head -n 1)
printf 'distance,x,y,"u\n+ 0",-u\n' >titles.csv
head -n 2 "$last" | cmp -s - titles.csv || complain "the titles of a line"
tail -n 1 "$last" | grep -qx '4,4,0.3,nan,nan' || complain "points outside are not nan"
code 0 "$eagre" plot "$last" --output titles.svg

# --- wrong wishes -----------------------------------------------------------------------------------

# wrong MESSAGE REPLACEMENT...: found by check, without a mesh.
wrong()
{
    message=$1
    shift
    code 2 "$eagre" check linear.toml "$@"
    says "$message"
}
wrong "there is no name 'w'" output.integral.mass.of=w
wrong "there is no name 'w'" output.quantities.square=w
wrong "there is no name 'w'" 'output.probe.a.of=["u","w"]'
wrong "not both" 'output.probe.a.from=[0,0]'
(sed 's/^\[output.probe.a\]/[output.probe."..\/a"]/' linear.toml) >odd.toml
code 2 "$eagre" check odd.toml
says "letters, digits"
wrong "where is it" output.probe.b.of=u
wrong "is missing" output.integral.b.kind=l2
wrong "kind" output.integral.mass.kind=l3
wrong "from 1 to 1000" output.checkpoint.keep=0
# Normals are of boundaries.
wrong "exist on boundaries only" output.integral.mass.of=nx
wrong "exist on boundaries only" 'output.probe.a.of=["u","u*ny"]'
wrong "exist on boundaries only" output.quantities.square="u*nz"
wrong "there is no name 'u_x'" output.quantities.square=u_x
# Columns have names of their own.
wrong 'another column "time"' output.integral.time.of=u output.integral.time.unit=s
wrong 'another column "a.u"' 'output.integral."a.u".of="u"'
wrong 'another column "b.u"' 'output.integral."b.u".of=u' 'output.probe.b.at=[1,0.5]'
wrong "second column" 'output.probe.a.of=["u","u"]'
code 0 "$eagre" check linear.toml 'output.integral."cut.u".of=u' 'output.integral."a.v".of=u'
# Intervals are longer than rounding.
wrong "a longer interval" output.series.time=1e-300
wrong "a longer interval" output.fields.time=1e-8 time.start=1e7 time.end=10000001
# Components that are called like something else may be, but not be used by that name.
sed 's/^u = "x + 2\*y"$/x = "0"\npi = "1"\nu_y = "2"\n&/' linear.toml >names.toml
sed -i '/^\[exact/,/^\[output.series/{/^\[output.series/!d}' names.toml
sed -i '/^\[output.integral/,$d; s/^square.*/square = "u^2"/' names.toml
code 0 "$eagre" check names.toml
for expression in x 2*pi; do
    code 2 "$eagre" check names.toml output.quantities.square="$expression"
    says "can mean two things"
    code 2 "$eagre" check names.toml 'output.probe.b.at=[0,0]' "output.probe.b.of=[\"$expression\"]"
    says "can mean two things"
done
code 2 "$eagre" check names.toml output.integral.b.of=u_y^2
says "can mean two things"
code 2 "$eagre" check names.toml output.quantities.square=u constants.u=1
says "can mean two things"
code 0 "$eagre" check names.toml output.integral.b.of=u_x output.quantities.square=u_y

sed '/^\[output.series\]/,/^$/{/^\[output.series\]/d;/^time = 0.05/d}' linear.toml >never.toml
code 2 "$eagre" check never.toml
says "output.series.steps"

# Those that need the mesh leave earlier results where they are.
before=$(ls -d on-cpu* | head -n 1)
code 2 "$eagre" run linear.toml $cpu output.directory="$before" 'output.integral.mass.over=["lef"]'
says 'did you mean "left"?'
code 2 "$eagre" run linear.toml $cpu output.directory="$before" 'output.probe.a.at=[1,1,1]'
says "2 coordinates"
code 2 "$eagre" run linear.toml $cpu output.directory="$before" 'output.probe.a.at=[5,5]'
says "does not lie in the mesh"
says "output.probe.a.at"
code 2 "$eagre" run linear.toml $cpu output.directory="$before" 'output.probe.cut.from=[0.0,1.5]' \
    'output.probe.cut.to=[2.0,1.5]'
says "no point of this line"
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    code 2 env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe -n 2 \
        "$eagre" run linear.toml $cpu output.directory="$before" 'output.probe.a.at=[5,5]'
    says "does not lie in the mesh"
fi
[ -s "$before/series.csv" ] && [ ! -e "$before.1" ] || complain "results moved for nothing"
code 2 "$eagre" run linear.toml $cpu output.directory=""
code 1 "$eagre" run linear.toml $cpu output.directory=no/such/place
says "no/such/place"
says "No such file or directory"

[ $failures -eq 0 ] || exit 1
