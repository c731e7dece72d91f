#!/bin/sh
# Runs of model ins: what they tell, the same on every number of ranks, boundaries of every type, flows that polynomials
# hold exactly, and cases that are wrong.
#
#     ins.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/model.sh"

taylor="$source/cases/ins-taylor.toml time.end=0.05 space.degree=3"

# of_whole FIELD: l2 of its error in whole.json.
of_whole() { sed -n "s/.*\"$1\": {[^}]*\"l2\": \([-+0-9.e]*\).*/\1/p" whole.json; }

# --- what a run tells --------------------------------------------------------------------------------
# shellcheck disable=SC2086 # of several words
json $taylor time.subcycles=2
for key in velocity pressure advection update preparation steps; do
    [ -n "$(value $key)" ] || complain "there is no $key"
done
grep -q '"iterations": {"velocity"' out || complain "iterations are not told"
grep -q '"time_fraction": {"advection"' out || complain "fractions of time are not told"

# --- the same on any number of ranks -----------------------------------------------------------------
for keys in time.subcycles=0 "time.subcycles=2 ins.divergence_penalty=1"; do
    # shellcheck disable=SC2086
    json $taylor $keys solver.tolerance=1e-12
    u=$(of u l2)
    p=$(of p l2)
    [ -n "$mpiexec" ] || continue
    for ranks in 2 3; do
        # shellcheck disable=SC2086
        $mpiexec --oversubscribe -n $ranks "$eagre" run $taylor $keys solver.tolerance=1e-12 --json \
            --device cpu:1 >out 2>err || complain "it fails on $ranks ranks"
        near "$(of u l2)" "$u" 1e-7
        near "$(of p l2)" "$p" 1e-6
    done
done

# --- a run that goes on is the same, bit for bit: in its first steps, too, which are of lower order ------------------
for keys in "time.cfl=0.3 time.subcycles=1 output.series.time=0.025 output.fields.time=0.02" "time.order=3 ins.start=lower" \
    "time.order=2 time.subcycles=2 ins.divergence_penalty=1"; do
    rm -rf whole
    # shellcheck disable=SC2086
    json $taylor $keys output.directory=whole output.checkpoint.steps=1 output.checkpoint.keep=20
    mv out whole.json
    for step in 1 2 7; do
        "$eagre" run --restart whole/checkpoints/0000000$step --json --device cpu:1 output.directory=again >out 2>err ||
            complain "$keys: it does not go on from step $step"
        for field in u v p; do
            again=$(of $field l2)
            [ "$again" = "$(of_whole $field)" ] || complain "$keys: $field differs if it goes on from step $step"
        done
        rm -rf again
    done
    # In steps of another length, too, it goes on, as well as from the start.
    case $keys in *cfl*) steps=time.cfl=0.2 ;; *) steps=time.dt=0.0031 ;; esac
    "$eagre" run --restart whole/checkpoints/00000002 $steps --json --device cpu:1 output.directory=again >out 2>err ||
        complain "$keys: it does not go on in other steps"
    near "$(of u l2)" "$(of_whole u)" 0.1
    rm -rf again
done

# Also with guesses from more or fewer solutions, with other systems than those were of, and on other ranks.
for keys in solver.guesses=2 solver.guesses=6 solver.guesses=0 ins.penalty=2 space.degree=4; do
    "$eagre" run --restart whole/checkpoints/00000007 --json --device cpu:1 output.directory=again $keys >out 2>err ||
        complain "it does not go on with $keys"
    below "$(of u l2)" 2e-3
    rm -rf again
done
[ -z "$mpiexec" ] || {
    $mpiexec --oversubscribe -n 2 "$eagre" run --restart whole/checkpoints/00000007 --json --device cpu:1 \
        output.directory=again >out 2>err || complain "it does not go on on two ranks"
    near "$(of u l2)" "$(of_whole u)" 1e-6
}

# --- guesses save iterations, and change nothing else -------------------------------------------------------------------
# shellcheck disable=SC2086
json $taylor time.end=0.15 space.degree=5 solver.guesses=0
iterations=$(of iterations pressure)
u=$(of u l2)
# shellcheck disable=SC2086
json $taylor time.end=0.15 space.degree=5
near "$(of u l2)" "$u" 1e-4
awk -v a="$iterations" -v b="$(of iterations pressure)" 'BEGIN { exit !(a > 8 && b < 0.75 * a) }' ||
    complain "guesses make $iterations iterations $(of iterations pressure)"

# --- steps of a CFL number: of a few lengths, each kept to for long, as few as stops allow; and of second order ----------
for cfl in 0.4 0.2; do
    rm -rf steps
    # shellcheck disable=SC2086
    json $taylor space.degree=6 time.subcycles=4 time.end=1.5 time.cfl=$cfl output.series.steps=1 output.directory=steps
    lengths=$(awk -F, 'NR > 2 { printf "%.9e\n", $3 }' steps/series.csv | sort -u | wc -l)
    [ "$lengths" -ge 3 ] && [ "$lengths" -le 8 ] || complain "time.cfl=$cfl makes steps of $lengths lengths"
    [ $cfl = 0.2 ] || u=$(of u l2)
done
awk -v a="$u" -v b="$(of u l2)" 'BEGIN { o = log(a / b) / log(2); exit !(o > 1.85 && o < 2.15) }' ||
    complain "half of time.cfl: from an error of $u to $(of u l2)"
rm -rf steps
# shellcheck disable=SC2086
json $taylor ins.start=lower initial.u=0 initial.v=0 boundary.left.u=0 time.cfl=0.5 output.series.time=0.025
[ "$(value steps)" -ge 2 ] || complain "a flow that boundaries move takes $(value steps) steps"

# --- vorticity and divergence are there to be written: 2 pi (cos(2 pi x) + cos(2 pi y)) exp(-4 pi^2 nu t) ------------
# shellcheck disable=SC2086
json $taylor space.degree=6 time.dt=0.0025 output.directory=derived output.series.time=0.05 \
    'output.probe.here.at=[0.1, 0.2]' 'output.probe.here.of=["vorticity", "divergence"]'
row=$(tail -n 1 derived/series.csv)
near "$(echo "$row" | cut -d, -f4)" "$(awk 'BEGIN { pi = atan2(0, -1)
    print 2*pi*(cos(0.2*pi) + cos(0.4*pi))*exp(-4*pi*pi*0.01*0.05) }')" 1e-3
below "$(echo "$row" | cut -d, -f5 | sed "s/^-//")" 1e-2

# --- collocation: another error, but a small one ---------------------------------------------------------
# shellcheck disable=SC2086
json $taylor
exact=$(of u l2)
# shellcheck disable=SC2086
json $taylor ins.advection=collocation
below "$(of u l2)" 4e-3
[ "$(of u l2)" != "$exact" ] || complain "collocation makes no difference"

# --- a step 16 times as long as advection allows, with as many subcycles ------------------------------------------
json "$source/cases/ins-taylor.toml" time.dt=0.1 time.subcycles=16 time.end=3 solver.tolerance=1e-8
below "$(of u l2)" 0.03
below "$(of v l2)" 0.04

# --- the vortex flows back in at the right side: it needs all of its momentum ------------------------------------
# shellcheck disable=SC2086
json $taylor ins.backflow=0.5
awk -v e="$(of u l2)" 'BEGIN { exit !(e > 1e-2 && e < 1) }' || complain "ins.backflow makes no difference: $(of u l2)"

# --- what is left of the divergence spoils a flow that the mesh does not resolve, unless it is penalised -----------------
# last COLUMN: of what was integrated, at the end.
last() { tail -n 1 lattice/series.csv | cut -d, -f"$1"; }
for penalty in 0 1; do
    rm -rf lattice
    json "$source/cases/ins-lattice.toml" ins.divergence_penalty=$penalty output.directory=lattice
    [ $penalty -eq 1 ] || { u=$(of u l2) && energy=$(last 4) && divergence=$(last 5); }
done
awk -v e="$u" -v energy="$energy" 'BEGIN { exit !(e > 0.3 && energy < 0.23) }' ||
    complain "the lattice of vortices stays, with an error of $u and an energy of $energy: it shows nothing"
awk -v e="$(of u l2)" -v energy="$(last 4)" 'BEGIN { exit !(e < 0.05 && energy > 0.24) }' ||
    complain "ins.divergence_penalty: an error of $(of u l2), an energy of $(last 4)"
awk -v a="$divergence" -v b="$(last 5)" 'BEGIN { exit !(b < a / 1e4) }' ||
    complain "ins.divergence_penalty: a divergence of $divergence becomes $(last 5)"

# --- half a channel: u = y (2 - y), p = 0.2 (2 - x), which degree 2 holds --------------------------------
cat >channel.toml <<'END'
model = "ins"
[mesh]
shape = "triangle"
cells = [3, 2]
high = [2.0, 1.0]
perturb = 0.2
[space]
degree = 2
[ins]
viscosity = 0.1
[time]
dt = 0.05
end = 0.22
[solver]
tolerance = 1e-12
[initial]
u = "y*(2 - y)"
p = "0.2*(2 - x)"
[exact]
u = "y*(2 - y)"
v = 0.0
p = "0.2*(2 - x)"
[boundary.left]
type = "inflow"
u = "y*(2 - y)"
[boundary.right]
type = "outflow"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "slip"
END
for keys in time.order=1 time.order=2 time.order=3 ins.pressure_order=2 time.subcycles=3 ins.divergence_penalty=1; do
    json channel.toml $keys
    below "$(of u linf)" 1e-9
    below "$(of v linf)" 1e-9
    below "$(of p linf)" 1e-8
done
# Without a guess of the pressure the splitting shows, in proportion to dt.
json channel.toml ins.pressure_order=0 time.dt=0.02
coarse=$(of u l2)
json channel.toml ins.pressure_order=0 time.dt=0.005
awk -v a="$coarse" -v b="$(of u l2)" 'BEGIN { exit !(a > 1e-5 && a / b > 2 && a / b < 8) }' ||
    complain "without a guess of the pressure errors are $coarse and $(of u l2)"

# The wrong answer would show: the pressure at the outflow is given, and so is the force.
json channel.toml boundary.right.pressure=0.1
awk -v e="$(of p linf)" 'BEGIN { exit !(e > 0.05) }' || complain "the pressure of the outflow is ignored"

# --- between periodic sides a force drives it; the pressure is known up to a constant --------------------
sed 's/^perturb = .*/perturb = 0.2\nperiodic = ["x"]/; s/^viscosity = .*/&\nforce_x = 0.2\nforce_y = "3*y^2 - 1"/
    s/^p = .*/p = "y^3 - y + 0.25"/; s/^degree = .*/degree = 3/; /boundary.left/,/outflow/d' channel.toml >periodic.toml
json periodic.toml
below "$(of u linf)" 1e-9
below "$(of p linf)" 1e-8

# --- a side that leans is no wall without friction so far ------------------------------------------------
json channel.toml "mesh.map=[\"x\", \"y + 0.1*x\"]" boundary.top.type=wall
"$eagre" run channel.toml "mesh.map=[\"x\", \"y + 0.1*x\"]" --device cpu:1 >out 2>err && complain "a leaning slip runs"
grep -q 'boundary "top" is not along x or y' err || complain "a leaning slip is not named"

# --- steps from a CFL number: whatever cuts them short, none is more than 1.4 times the one before -----------
# shellcheck disable=SC2086
json $taylor time.cfl=0.5 output.series.steps=1 output.fields.time=0.02 output.checkpoint.time=0.013 \
    output.directory=cut
awk -F, 'NR > 2 { if (before && $3 > 1.4001 * before) bad = 1; if (before && $3 < 0.7 * before) cut = 1; before = $3 }
    END { exit bad || !cut }' cut/series.csv || complain "steps from a CFL number: $(cut -d, -f3 cut/series.csv | tr '\n' ' ')"
# Another CFL number counts from the restart on.
"$eagre" run --restart cut time.cfl=0.7 time.end=0.1 output.directory=again output.series.steps=1 --device cpu:1 >out 2>err ||
    complain "it does not go on with another CFL number"
awk -F, -v old="$(tail -n 1 cut/series.csv | cut -d, -f3)" 'NR > 2 && $3 > most { most = $3 }
    END { exit !(most > 1.2 * old) }' again/series.csv || complain "another CFL number does not count"
rm -rf again

# Of a flow at rest no step is the longest: that is said, wherever the states before the start come from.
sed 's/y\*(2 - y)/t*y*(2 - y)/; s/^dt = .*/cfl = 0.5/' channel.toml >rest.toml
for start in lower exact; do
    "$eagre" run rest.toml initial.u=0 time.order=2 ins.start=$start --device cpu:1 >out 2>err
    [ $? -eq 1 ] || complain "a flow at rest, ins.start=$start: exit code is not 1"
    grep -q "at time 0, after 0 steps, the largest stable step is inf.*If nothing moves, give time.dt" err ||
        complain "a flow at rest, ins.start=$start: $(cat err)"
done

# --- flows that grow without bound -----------------------------------------------------------------------
# shellcheck disable=SC2086
for keys in ins.divergence_penalty=0 "ins.divergence_penalty=1 solver.iterations=100"; do
    "$eagre" run $taylor time.dt=0.2 time.end=20 $keys --device cpu:1 >out 2>err
    [ $? -eq 1 ] || complain "a lost flow: exit code is not 1"
    grep -q "half of time.dt or time.cfl" err || complain "a lost flow: nothing is said of its steps"
done

# --- what is wrong -------------------------------------------------------------------------------------
wrong 'this model needs "triangle", not "quadrilateral"' channel.toml mesh.shape=quadrilateral
wrong "this model needs straight elements" channel.toml mesh.order=2
wrong "degrees from 1 on" channel.toml space.degree=0
wrong "time.order says of which order" channel.toml time.scheme=rk4
wrong 'a boundary of type "inflow" has no such data; did you mean "outflow"?' channel.toml \
    boundary.left.pressure=1
wrong 'a boundary of type "wall" has no such data; did you mean "inflow"?' channel.toml boundary.bottom.u=1
sed '/^\[exact\]/,/^p = /d' channel.toml >no-exact.toml
wrong "there is no section [exact] to start from" no-exact.toml ins.start=exact
sed '/^v = 0.0/d' channel.toml >half-exact.toml
wrong "u, v and p belong together; v is not given" half-exact.toml
wrong "it has no type" channel.toml boundary.inlet.u=1

[ "$failures" -eq 0 ]
