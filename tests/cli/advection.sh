#!/bin/sh
# Runs of model advection against exact solutions, with errors of the right order and the same on every
# device and any number of ranks: boundaries, sources, tracers, velocities, and runs that fail.
#
#     advection.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -u
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-advection-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
: >"$work/err"

complain()
{
    echo "advection.sh: $*" >&2
    sed 's/^/    /' "$work/err" >&2
    failures=$((failures + 1))
}

# number KEY: the first number behind "KEY" in the last output; field FIELD KEY: that of a field's error.
number() { grep -o "\"$1\": [-+0-9.e]*" "$work/out" | head -n 1 | sed 's/.*: //'; }
field()
{
    sed 's/.*"error": {/{/' "$work/out" | grep -o "\"$1\": {[^}]*}" | head -n 1 |
        grep -o "\"$2\": [-+0-9.e]*" | sed 's/.*: //'
}

# true when the expression of awk holds.
holds() { awk "BEGIN { exit !($1) }"; }

# json ARGUMENT...: runs a case into $work/out.
json()
{
    "$eagre" run "$@" --json >"$work/out" 2>"$work/err" || complain "eagre run $* --json failed"
    [ "$(wc -l <"$work/out")" -eq 1 ] || complain "eagre run $* --json: not one line"
}

# OpenCL on a CPU takes a second or two to compile a kernel, so that few cases are run there.
gpus=$("$eagre" devices | awk 'NR > 1 && $1 ~ /^cuda:/ { print $1 }')
devices="$gpus $("$eagre" devices | awk 'NR > 1 && $1 ~ /^opencl:/ { print $1 }')"

# Whatever computes it, the l2 error is that of one thread to 1e-12; the solutions are of size 1.
#
# same_on DEVICES CASE FIELD ARGUMENT...: on two threads and on a list of devices.
same_on()
{
    list=$1 case=$2 name=$3
    shift 3
    json "$case" "$@" --device cpu:1
    expected=$(field "$name" l2)
    for device in cpu:2 $list; do
        json "$case" "$@" --device "$device"
        holds "($(field "$name" l2) - $expected)^2 < 1e-24" ||
            complain "$case on $device: $(field "$name" l2), on one thread $expected"
    done
}

# ranks COUNT ARGUMENT...: eagre with the arguments on so many ranks. MPI leaks from plug-ins that it
# unloads, so that no suppression can name them.
ranks()
{
    count=$1
    shift
    # shellcheck disable=SC2086 # a command of several words
    env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe -n "$count" "$eagre" "$@" \
        --device cpu:1 >"$work/out" 2>"$work/err"
}

# same_on_ranks CASE FIELD ARGUMENT...: on two and three ranks.
same_on_ranks()
{
    [ -n "${EAGRE_TEST_MPIEXEC:-}" ] || return
    case=$1 name=$2
    shift 2
    json "$case" "$@" --device cpu:1
    expected=$(field "$name" l2)
    for n in 2 3; do
        ranks $n run "$case" "$@" --json || complain "$case: $n ranks failed"
        [ "$(number ranks)" = $n ] || complain "$case: not $n ranks: $(cat "$work/out")"
        holds "($(field "$name" l2) - $expected)^2 < 1e-24" ||
            complain "$case on $n ranks: $(field "$name" l2), on one $expected"
    done
}

# order CASE LOW HIGH ARGUMENT...: the order from 8 to 16 cells a side with degree 2.
order()
{
    case=$1 low=$2 high=$3
    shift 3
    "$eagre" converge "$case" "$@" --cells 8,16 --degrees 2 --device cpu:1 --json \
        >"$work/out" 2>"$work/err" || complain "$case: converge failed"
    found=$(sed 's/.*"orders"//' "$work/out" | grep -o '"l2": [-+0-9.e]*' | sed 's/.*: //')
    holds "${found:-0} > $low && ${found:-0} < $high" ||
        complain "$case: order $found is not between $low and $high"
}

# put NAME: a case from what is the same in all and from standard input.
put()
{
    {
        printf 'model = "advection"\n[mesh]\nshape = "quadrilateral"\ncells = [8, 8]\n'
        cat
    } >"$work/$1"
}

cd "$work" || exit 1

# A wave comes in on the left and goes out on the right.
put inflow.toml <<'CASE'
periodic = ["y"]
[space]
degree = 2
[advection]
velocity = [1, 0]
[initial]
u = "sin(2*pi*x)"
[exact]
u = "sin(2*pi*(x - t))"
[boundary.left]
type = "inflow"
u = "sin(-2*pi*t)"
[time]
end = 1.3
cfl = 0.3
CASE
order inflow.toml 2.8 3.2
same_on "$devices" inflow.toml u
same_on_ranks inflow.toml u

# A pulse that has gone out leaves nothing behind: no reflection. Diagonally it leaves by two sides.
put outflow.toml <<'CASE'
[space]
degree = 4
[advection]
velocity = [1, "0.7"]
[initial]
u = "exp(-60*((x - 0.5)^2 + (y - 0.5)^2))"
[exact]
u = "exp(-60*((x - t - 0.5)^2 + (y - 0.7*t - 0.5)^2))"
[time]
end = 0.5
cfl = 0.3
CASE
json outflow.toml --device cpu:1
holds "$(field u l2) < 1e-3" || complain "a pulse on its way out: $(field u l2)"
json outflow.toml time.end=3 --device cpu:1
holds "$(field u linf) < 1e-7" || complain "a pulse leaves $(field u linf) behind"
same_on_ranks outflow.toml u

# A polynomial of the degree of the space with a source that makes it so is exact; in time it is linear.
put source.toml <<'CASE'
perturb = 0.2
[space]
degree = 2
[advection]
velocity = [1, "0.5"]
[initial]
u = "x*y"
[exact]
u = "x*y + t"
[source]
u = "1 + y + 0.5*x"
[boundary.left]
type = "inflow"
u = "t"
[boundary.bottom]
type = "inflow"
u = "t"
[time]
end = 1
cfl = 0.3
CASE
json source.toml --device cpu:1
holds "$(field u linf) < 1e-12" || complain "a source: $(field u linf) is not rounding"
same_on "$gpus" source.toml u
same_on_ranks source.toml u
# A source alone, where nothing moves.
json source.toml 'advection.velocity=[0, 0]' source.u='x*cos(t)' initial.u=0 exact.u='x*sin(t)' \
    time.dt=0.1 --device cpu:1
holds "$(field u l2) < 1e-7" || complain "a source alone: $(field u l2)"
[ "$(number steps)" = 10 ] || complain "a source alone: $(number steps) steps are not 10"

# Tracers do not know of each other: each has the error that it has alone.
put tracers.toml <<'CASE'
periodic = ["x", "y"]
[space]
degree = 3
[advection]
velocity = [1, 0.5]
[initial]
u = "sin(2*pi*x)"
v = "cos(2*pi*(x + y))"
w = "exp(sin(2*pi*y))"
[exact]
u = "sin(2*pi*(x - t))"
v = "cos(2*pi*(x + y - 1.5*t))"
w = "exp(sin(2*pi*(y - 0.5*t)))"
[time]
end = 0.5
cfl = 0.3
CASE
for name in u v w; do
    json tracers.toml --device cpu:1
    together=$(field $name l2)
    sed "/^[uvw] = /{/^$name = /!d}" tracers.toml >alone.toml
    json alone.toml --device cpu:1
    holds "($together - $(field $name l2))^2 < 1e-26 && $together > 1e-7 && $together < 1e-2" ||
        complain "tracer $name: $together with others, $(field $name l2) alone"
done
same_on "$gpus" tracers.toml w
same_on_ranks tracers.toml w

# A velocity that turns round brings everything back to where it was.
put return.toml <<'CASE'
periodic = ["x", "y"]
[space]
degree = 2
[advection]
velocity = ["cos(t)", "0.5*cos(t)"]
[initial]
u = "sin(2*pi*x)*cos(2*pi*y)"
[exact]
u = "sin(2*pi*(x - sin(t)))*cos(2*pi*(y - 0.5*sin(t)))"
[time]
end = 3.141592653589793
dt = 0.01
CASE
order return.toml 2.8 3.3
same_on_ranks return.toml u

# A rotation on a mesh of general quadrilaterals.
put rotate.toml <<'CASE'
low = -1.0
perturb = 0.2
[space]
degree = 2
[advection]
velocity = ["-y", "x"]
[initial]
u = "exp(-20*((x - 0.3)^2 + y^2))"
[exact]
u = "exp(-20*((x - 0.3*cos(t))^2 + (y - 0.3*sin(t))^2))"
[time]
end = 1.5
cfl = 0.3
CASE
order rotate.toml 2.7 3.6
same_on_ranks rotate.toml u
# With degrees that differ, so that ranks share faces between them.
same_on "$devices" rotate.toml u advection.degree='x*y < 0 ? 1 : 2'
same_on_ranks rotate.toml u space.degree=3 advection.degree='x*y < 0 ? 1 : 3'
# … and that follow the solution: decided alike.
same_on "$gpus" rotate.toml u space.degree=4 mesh.cells=[16,16] adapt.enabled=true
same_on_ranks rotate.toml u space.degree=4 mesh.cells=[16,16] adapt.enabled=true
# From a list, by which every rank finds its own.
awk 'BEGIN { for (i = 0; i < 64; i++) print i % 7 % 4 }' >list.txt
same_on_ranks rotate.toml u space.degree=3 advection.degree_file=list.txt

# What a run tells of its adaptation, which leaves the error as it is.
json rotate.toml space.degree=4 mesh.cells=[16,16] --device cpu:1
highest=$(field u l2)
json rotate.toml space.degree=4 mesh.cells=[16,16] adapt.enabled=true --device cpu:1
for key in adapt decisions adaptations dof_average degree_least degree_most mass start end; do
    grep -qF "\"$key\": " "$work/out" || complain "the object lacks $key"
done
holds "$(field u l2) < 1.1*$highest" || complain "adapted: $(field u l2) instead of $highest"
holds "$(number dof_average) < 0.75*256*25 && $(number adaptations) > 5" ||
    complain "adaptation: $(cat "$work/out")"

# What a run tells of its steps.
json return.toml --device cpu:1
for key in loop steps time dt_least dt_most wall_s steps_per_s dof_per_s; do
    grep -qF "\"$key\": " "$work/out" || complain "the object lacks $key"
done
[ "$(number steps)" = 315 ] || complain "$(number steps) steps are not 315"
holds "$(number dt_most) == 0.01 && $(number dt_least) < 0.0016" || complain "dt: $(cat "$work/out")"
"$eagre" run return.toml --device cpu:1 >"$work/out" 2>"$work/err" || complain "plain output failed"
grep -q '^loop    steps 315, time 3.142, dt_least 0.00159' "$work/out" || complain "$(cat "$work/out")"

# A run with steps that are too large fails, soon, and says why.
"$eagre" run inflow.toml time.dt=0.25 time.end=1e4 --device cpu:1 --json >"$work/out" 2>"$work/err"
[ $? -eq 1 ] || complain "a run that blows up is not exit code 1"
grep -q 'after 256 steps, u is .* in element .* at (.* time.dt = 0.25 is 10 times' "$work/err" ||
    complain "a run that blows up is not explained"
grep -qF '"error": {"status"' "$work/out" || complain "a run that blows up: $(cat "$work/out")"
"$eagre" run inflow.toml 'boundary.left.u=1/(t - t)' --device cpu:1 >"$work/out" 2>"$work/err"
[ $? -eq 1 ] || complain "an inflow that is not finite is not exit code 1"
grep -q 'u is not a number in element\|u is infinite in element' "$work/err" || complain "an inflow that is not finite is not explained"
"$eagre" run inflow.toml 'initial.u=log(-x)' --device cpu:1 >"$work/out" 2>"$work/err"
grep -q 'at the start, at time 0, u is not a number in element' "$work/err" ||
    complain "a start that is not finite is not explained"

# Steps are as long as bounds allow: stretched to the end, with a velocity that grows or oscillates, and as
# they are told.
put bounds.toml <<'CASE'
periodic = ["x", "y"]
[space]
degree = 2
[advection]
velocity = [1, 0]
[initial]
u = "sin(2*pi*x)"
[limiter]
bounds = "initial"
[time]
end = 1
cfl = 1
scheme = "ssp-rk3"
CASE
json bounds.toml --device cpu:1
json bounds.toml 'advection.velocity=["1 + t", 0]' --device cpu:1
json bounds.toml 'advection.velocity=["sin(3*t) + 1.5", 0]' time.end=3 --device cpu:1
"$eagre" run bounds.toml mesh.cells=[4,4] time.dt=0.5 --device cpu:1 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "steps too long for bounds: not exit code 2"
told=$(sed -n 's/.*in steps of \([-0-9.e]*\) at most.*/\1/p' "$work/err")
json bounds.toml mesh.cells=[4,4] time.dt="$told" --device cpu:1 # rounded up
# … also on elements that get a higher degree later.
"$eagre" run bounds.toml mesh.cells=[4,4] space.degree=4 advection.degree=1 adapt.enabled=true \
    time.dt="$told" --device cpu:1 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || complain "steps too long for bounds of the highest degree: not exit code 2"
grep -q 'on elements of degree space.degree' "$work/err" || complain "bounds of the highest degree"

# What is wrong with a case is found before it runs, at its key.
wrong()
{
    text=$1
    shift
    "$eagre" check "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || complain "eagre check $*: not exit code 2"
    grep -qF -e "$text" "$work/err" || complain "eagre check $*: lacks $text"
}
wrong 'needs "quadrilateral" or "hexahedron"' inflow.toml mesh.shape=triangle
wrong 'needs straight elements' inflow.toml mesh.order=2
wrong 'the velocity has 2 components on a mesh in 3 dimensions' inflow.toml mesh.shape=hexahedron
wrong 'there is no boundary "lft"; did you mean "left"?' inflow.toml boundary.lft.type=inflow
wrong 'there is no boundary "top"' inflow.toml boundary.top.type=outflow
wrong 'there is no tracer "v"' inflow.toml boundary.left.v=1
wrong 'did you mean type = "inflow"' inflow.toml boundary.left.type=outflow
wrong 'leave the key out' inflow.toml space.basis=gauss
wrong 'steps are given twice' inflow.toml time.dt=0.1 time.cfl=0.5
wrong 'told from rounding' inflow.toml time.dt=1e-300

# Ranks fail together, and one of them says why.
if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    ranks 2 run inflow.toml boundary.lft.type=inflow
    [ $? -eq 2 ] || complain "2 ranks with a boundary that is none: not exit code 2"
    [ "$(grep -c 'there is no boundary' "$work/err")" -eq 1 ] || complain "2 ranks: not said once"
    ranks 2 run inflow.toml time.dt=0.25 time.end=1e4
    [ $? -eq 1 ] || complain "2 ranks that blow up: not exit code 1"
    [ "$(grep -c 'in element' "$work/err")" -eq 1 ] || complain "2 ranks: not said once"
fi

[ "$failures" -eq 0 ]
