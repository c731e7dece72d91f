#!/bin/sh
# Runs of model euler: the same on every device and number of ranks, conserved quantities, restarts, boundaries,
# and cases that are wrong.
#
#     euler.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/model.sh"

rho() { of rho nodal_l2; }

vortex=$source/cases/euler-vortex.toml
annulus=$source/cases/euler-annulus.toml

# --- the paper's figure, and how fast it was found -------------------------------------------------
json "$vortex" scheme.method=dg space.degree=2 'mesh.cells=[20,20]' time.cfl=0.14
near "$(rho)" 2.24e-4 0.01
case $(value ns_per_point_stage) in
'' | 0 | -*) complain "there is no ns_per_point_stage" ;;
esac

# devices RUN RUNS: all devices, or where RUN is none of RUNS the CPU alone: kernels take long to compile.
devices()
{
    case " $2 " in
    *" $1 "*) "$eagre" devices --json | grep -o '"spec": "[^"]*"' | sed 's/.*: "//; s/"//' ;;
    *) echo cpu ;;
    esac
}

# PoCL takes long to optimise kernels, and what is compared does not depend on it.
POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
export POCL_EXTRA_BUILD_FLAGS

# --- the same on all devices and numbers of ranks -----------------------------------------------------
for method in dg ndg cpr sd fv2 curved-ndg equal-cpr; do
    set -- "$vortex" "scheme.method=${method%2}" 'mesh.cells=[13,11]' mesh.perturb=0.1 time.cfl=0.1
    case $method in
    fv2) set -- "$@" scheme.order=3 scheme.face_points=2 ;;
    curved-*) set -- "$annulus" "scheme.method=${method#curved-}" 'mesh.cells=[3,7]' space.degree=2 \
        mesh.order=2 time.end=1 ;;
    equal-*) set -- "$vortex" "scheme.method=${method#equal-}" 'mesh.cells=[23,11]' time.cfl=0.1 ;;
    esac
    json "$@"
    expected=$(rho)
    for device in $(devices $method "fv2 curved-ndg"); do
        "$eagre" run "$@" --json --device "$device" >out 2>err || complain "$method on $device fails"
        near "$(rho)" "$expected" 1e-11
    done
    for ranks in $(case $method in dg | curved-ndg) echo 2 ;; esac) 3; do
        [ -n "$mpiexec" ] || continue
        $mpiexec --oversubscribe -n $ranks "$eagre" run "$@" --json --device cpu:1 >out 2>err ||
            complain "$method on $ranks ranks fails"
        near "$(rho)" "$expected" 1e-11
    done
done

# --- curved elements of a Gmsh file ------------------------------------------------------------------
json "$annulus"
expected=$(rho)
"$eagre" mesh generate "$annulus" --output annulus.msh >out 2>err || complain "there is no annulus.msh"
sed '/^\(shape\|cells\|low\|high\|order\|map\) = /d; s/^\[mesh\]/[mesh]\nfile = "annulus.msh"/' "$annulus" >file.toml
json file.toml
near "$(rho)" "$expected" 1e-8

# --- a run that goes on is the run that was not interrupted ----------------------------------------
for method in dg cpr fv; do
    set -- "$vortex" scheme.method=$method 'mesh.cells=[10,9]' time.cfl=0.1 time.end=0.6 \
        output.series.steps=1 output.integral.energy.of='E^2' output.integral.momentum.of='mx*rho' \
        output.checkpoint.steps=7
    "$eagre" run "$@" output.directory=whole --device cpu:1 >out 2>err || complain "$method fails"
    [ -d whole/checkpoints ] || break # without HDF5 there are none
    rm -rf again
    cp -r whole again
    "$eagre" run --restart "again/checkpoints/$(ls again/checkpoints | head -n 1)" output.directory=again \
        --device cpu:1 >out 2>err || complain "$method does not go on"
    cmp -s whole/series.csv again/series.csv || complain "$method: a run that went on is another"
    rm -rf whole
done

# --- boundaries --------------------------------------------------------------------------------------
cat >box.toml <<'END'
model = "euler"
[mesh]
shape = "quadrilateral"
cells = [9, 8]
perturb = 0.15
[space]
degree = 2
[scheme]
method = "ndg"
flux = "hllc"
[initial]
rho = "1 + 0.3*exp(-30*((x - 0.4)^2 + (y - 0.6)^2))"
u = 0
v = 0
p = "1 + 0.4*exp(-30*((x - 0.4)^2 + (y - 0.6)^2))"
[boundary.left]
type = "wall"
[boundary.right]
type = "wall"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "wall"
[time]
cfl = 0.1
end = 0.3
END
for flux in rusanov hllc roe; do
    json box.toml scheme.flux=$flux
    for name in rho E; do
        start=$(sed -n "s/.*\"total\".*\"$name\": {\"start\": \([^,]*\), .*/\1/p" out)
        end=$(sed -n "s/.*\"total\".*\"$name\": {\"start\": [^,]*, \"end\": \([^}]*\)}.*/\1/p" out)
        near "$start" "$end" 1e-13
    done
done
for type in farfield state inflow; do
    {
        sed '/^\[boundary/,/^type/d; s/^\(rho\|p\) = .*/\1 = 0.8/; s/^u = .*/u = 1.9/; s/^v = .*/v = 0.3/' box.toml
        printf '[exact]\nrho = 0.8\nu = 1.9\nv = 0.3\np = 0.8\n'
        for side in left bottom top; do
            printf '[boundary.%s]\ntype = "%s"\nrho = 0.8\nu = 1.9\nv = 0.3\np = 0.8\n' $side $type
        done
        printf '[boundary.right]\ntype = "outflow"\n'
    } >uniform.toml
    # All schemes with one of them, two with the others, which differ in what they ask of the state alone.
    for method in $([ $type != farfield ] || echo ndg cpr fv curved-dg) sd curved-ndg; do
        set -- uniform.toml "scheme.method=${method#curved-}"
        [ $method = "${method#curved-}" ] ||
            set -- "$@" mesh.order=3 'mesh.map=["x + 0.1*sin(3*y)", "y + 0.2*x*cos(4*x*y)"]'
        json "$@"
        awk -v e="$(value linf)" 'BEGIN { exit !(e != "" && e < 1e-12) }' ||
            complain "uniform flow changes by $(value linf) with $method and $type"
    done
done

# --- shocks --------------------------------------------------------------------------------------------
# total NAME PLACE: ∫ of a component at the "start" or the "end".
total() { sed -n "s/.*\"total\".*\"$1\": {[^}]*\"$2\": \([^,}]*\).*/\1/p" out; }

cat >tube.toml <<'END'
model = "euler"
[mesh]
shape = "quadrilateral"
cells = [40, 3]
high = [1.0, 0.1]
perturb = 0.1
periodic = ["y"]
[space]
degree = 2
[scheme]
flux = "hllc"
[limiter]
method = "minmod"
[initial]
rho = "x < 0.5 ? 1 : 0.125"
u = 0
v = 0
p = "x < 0.5 ? 1 : 0.1"
[boundary.left]
type = "wall"
[boundary.right]
type = "wall"
[time]
scheme = "ssp-rk3"
cfl = 0.08
end = 0.1
END
for method in dg ndg sd cpr; do
    json tube.toml scheme.method=$method limiter.method=blend
    near "$(total rho end)" "$(total rho start)" 1e-13
    [ $method = cpr ] || near "$(total E end)" "$(total E start)" 1e-13
done
for run in dg,minmod ndg,minmod sd,blend cpr,blend fv,minmod; do
    method=${run%,*}
    set -- tube.toml scheme.method=$method limiter.method=${run#*,} limiter.positivity=true
    json "$@"
    near "$(total rho end)" "$(total rho start)" 1e-13
    [ $method = cpr ] || near "$(total E end)" "$(total E start)" 1e-13
    expected=$(total mx end)
    for device in $(devices "$run" "sd,blend"); do
        "$eagre" run "$@" --json --device "$device" >out 2>err || complain "$method with a limiter on $device fails"
        near "$(total mx end)" "$expected" 1e-11
    done
    [ -n "$mpiexec" ] || continue
    $mpiexec --oversubscribe -n 3 "$eagre" run "$@" --json --device cpu:1 >out 2>err ||
        complain "$method with a limiter on 3 ranks fails"
    near "$(total mx end)" "$expected" 1e-11
done
json tube.toml scheme.method=fv time.scheme=rk4 # whose slopes are limited in the rate
wrong 'stages of "rk4" are no mixture' tube.toml time.scheme=rk4
wrong 'is for method "minmod"' tube.toml limiter.method=none limiter.threshold=0.1
wrong 'did you mean' tube.toml limiter.method=minmd
# Smooth flow is as it is without.
json "$vortex" space.degree=3 'mesh.cells=[40,40]' time.cfl=0.1 time.end=0.1
expected=$(rho)
json "$vortex" space.degree=3 'mesh.cells=[40,40]' time.cfl=0.1 time.end=0.1 limiter.method=blend limiter.positivity=true
near "$(rho)" "$expected" 1e-9

# --- what is wrong is refused ------------------------------------------------------------------------
wrong 'degrees from 1 to 8' "$vortex" space.degree=9
wrong 'degrees from 1 to 8' "$vortex" space.degree=0
wrong 'needs "quadrilateral", not "triangle"' "$vortex" mesh.shape=triangle
wrong 'limiters need straight elements' "$annulus" limiter.positivity=true
wrong 'is folded' "$annulus" 'mesh.map=["x*cos(3*pi/2*y)", "x*sin(3*pi/2*y)"]' 'mesh.cells=[1,1]' mesh.order=12 \
    space.degree=1
wrong 'scheme.method says which points' "$vortex" space.basis=gauss
wrong 'is for method "cpr"' "$vortex" scheme.derivative=chain
wrong 'more than 1' "$vortex" gas.gamma=1
wrong 'nothing is said of boundary "bottom"' "$vortex" 'mesh.periodic=["x"]'
wrong 'a boundary of type "wall" has none' box.toml boundary.left.rho=1
wrong 'needs the state behind it' box.toml boundary.left.type=farfield
wrong 'u is not given' box.toml exact.rho=1
wrong 'did you mean' "$vortex" scheme.method=dgg
wrong 'it is for method "fv", not for "dg"' "$vortex" scheme.order=3
wrong 'it is for method "fv", not for "sd"' "$vortex" scheme.method=sd scheme.face_points=2
wrong 'from 2 to 3' "$vortex" scheme.method=fv scheme.order=4
wrong 'with "fv" all slopes are limited' tube.toml scheme.method=fv limiter.threshold=0.1
wrong '"minmod" that keeps density' tube.toml scheme.method=fv limiter.method=none limiter.positivity=true
wrong 'method "fv" needs straight elements, of order 1, not 2' "$vortex" scheme.method=fv mesh.order=2

# --- cells are drawn as they are -------------------------------------------------------------------------
# Of 4 x 4 elements with 3 x 3 cells each; all points of a cell have one value.
if "$eagre" run "$vortex" scheme.method=fv 'mesh.cells=[4,4]' time.end=0.1 output.directory=cells output.fields.end=true \
    --device cpu:1 >out 2>err; then
    "$eagre" info cells/fields/*.vtu >out 2>err || complain "cells/fields cannot be read"
    grep -q '144, each a quadrilateral of degree 1, values of degree 0' out || complain "cells are not shown as such"
else
    grep -q zlib err || complain "fields of cells are not written"
fi
"$eagre" run "$vortex" time.cfl=2 --device cpu:1 >out 2>err && complain "a CFL number of 2 works"
grep -q 'without a speed of sound\|is not finite\|is -\|more than guard' err || complain "what is lost is not told"

[ "$failures" -eq 0 ]
