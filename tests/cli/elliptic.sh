#!/bin/sh
# Runs of model elliptic: its figures, the same on every number of ranks, boundaries of every type, the null space,
# failures of the solver, and cases that are wrong.
#
#     elliptic.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/model.sh"

sine=$source/cases/poisson-sine.toml

# --- the case's figure, and what a run tells ---------------------------------------------------------
json "$sine"
near "$(of u l2)" 1.049e-6 0.001
for key in iterations residual solve_s dof_per_s preconditioner_bytes_per_element; do
    [ -n "$(value $key)" ] || complain "there is no $key"
done
alone=$(of u l2)
iterations=$(value iterations)

# --- the same on any number of ranks -----------------------------------------------------------------
if [ -n "$mpiexec" ]; then
    for ranks in 2 3; do
        $mpiexec --oversubscribe -n $ranks "$eagre" run "$sine" --json --device cpu:1 >out 2>err ||
            complain "it fails on $ranks ranks"
        near "$(of u l2)" "$alone" 1e-6
        awk -v a="$(value iterations)" -v b="$iterations" 'BEGIN { exit !(a - b <= 1 && b - a <= 1) }' ||
            complain "$(value iterations) iterations on $ranks ranks, $iterations alone"
    done
fi

# --- mass, none: the same solution -------------------------------------------------------------------
json "$sine" solver.preconditioner=none
near "$(of u l2)" "$alone" 1e-4

# --- every type of boundary: u = x² - y² + x y, which degree 2 holds exactly ------------------------------
cat >types.toml <<'END'
model = "elliptic"
[mesh]
shape = "triangle"
cells = [4, 3]
[space]
degree = 2
[elliptic]
source = "x^2 - y^2 + x*y"
lambda = 1.0
[exact]
u = "x^2 - y^2 + x*y"
ux = "2*x + y"
uy = "x - 2*y"
[boundary.left]
type = "dirichlet"
value = "-y^2"
[boundary.right]
type = "neumann"
value = "2 + y"
[boundary.bottom]
type = "robin"
coefficient = "2 + x"
value = "(2 + x)*x^2 - x"
[boundary.top]
type = "dirichlet"
value = "x^2 - 1 + x"
[solver]
tolerance = 1e-12
END
json types.toml
below "$(of u linf)" 1e-9
below "$(of ux linf)" 1e-8
below "$(of uy linf)" 1e-8
json types.toml mesh.shape=quadrilateral
below "$(of u linf)" 1e-9

# --- k that jumps by a million: u is linear on both sides of x = 1/2 and its flux is continuous ----------------
cat >jump.toml <<'END'
model = "elliptic"
[mesh]
shape = "triangle"
cells = [4, 4]
periodic = ["y"]
[space]
degree = 2
[elliptic]
source = "0"
k = "x < 0.5 ? 1 : 1e6"
[exact]
u = "x < 0.5 ? x : 0.5 + (x - 0.5)*1e-6"
[boundary.left]
type = "dirichlet"
[boundary.right]
type = "dirichlet"
value = "0.5 + 0.5e-6"
[solver]
tolerance = 1e-13
END
json jump.toml
below "$(of u linf)" 1e-7

# --- a constant is free: mean 0, and what has no solution is dropped -------------------------------------
sed '/^\[boundary/,$d' "$sine" >closed.toml
json closed.toml 'mesh.periodic=["x","y"]' 'elliptic.source="4*pi^2*sin(2*pi*x)"' 'exact.u="sin(2*pi*x)"'
below "$(value imbalance)" 1e-12
balanced=$(of u l2)
json closed.toml 'mesh.periodic=["x","y"]' 'elliptic.source="4*pi^2*sin(2*pi*x) + 5"' 'exact.u="sin(2*pi*x)"'
near "$(of u l2)" "$balanced" 1e-5
json closed.toml 'mesh.periodic=["x","y"]' elliptic.source=5 exact.u=0
near "$(value imbalance)" 1 1e-9
below "$(of u linf)" 1e-12

# --- preconditioners: the same solution, in a few iterations -----------------------------------------------
json "$sine"
error=$(of u l2)
below "$(value iterations)" 14
below "$(value preconditioner_bytes_per_element)" 2000
grep -q '"preconditioner_s":' out || complain "it is not told how long the preconditioner took"
for name in mass amg pmg-amg; do
    json "$sine" solver.preconditioner=$name
    near "$(of u l2)" "$error" 1e-4
done
below "$(value iterations)" 50
json "$sine" space.degree=4 solver.smoother=diagonal solver.chebyshev=fourth solver.smoother_degree=4 \
    solver.coarsening=step solver.coarse_penalty=own solver.amg=unsmoothed solver.precision=double
below "$(value iterations)" 24
json types.toml solver.preconditioner=pmg-amg
below "$(of u linf)" 1e-9

# --- data that single precision does not hold, and more than rounding allows -------------------------------
json "$sine" 'elliptic.source=2e-40*pi^2*sin(pi*x)*sin(pi*y)' 'exact.u=1e-40*sin(pi*x)*sin(pi*y)' 'exact.ux=0' 'exact.uy=0'
below "$(of u l2)" 1.1e-46
json "$sine" solver.tolerance=1e-15
near "$(of u l2)" 1.049e-6 0.001

# --- what does not converge fails with 1 ------------------------------------------------------------
"$eagre" run "$sine" solver.iterations=5 --device cpu:1 >out 2>err
[ $? -eq 1 ] || complain "5 iterations: exit code is not 1"
grep -q "not converged in 5 iterations" err || complain "it is not said that it has not converged"

# --- what is wrong ----------------------------------------------------------------------------------
wrong 'nothing is said of boundary "left"' closed.toml
wrong 'there is no boundary "inlet"' "$sine" boundary.inlet.type=dirichlet
wrong 'needs a coefficient' "$sine" boundary.left.type=robin
wrong 'did you mean "robin"' "$sine" boundary.left.coefficient=1
wrong 'must be positive' "$sine" elliptic.k=-1
wrong 'must be positive everywhere' "$sine" 'elliptic.k=x - 0.5'
sed '/^uy/d' types.toml >half.toml
wrong 'uy is not given' half.toml
wrong 'no third direction' types.toml exact.uz=0
wrong 'no time' "$sine" 'elliptic.source=x*t'
wrong 'divisions by zero' "$sine" 'elliptic.source=1/(x*y)'
wrong 'elliptic.lambda' "$sine" elliptic.lambda=-1
wrong '"lobatto"' "$sine" space.basis=modal
wrong 'degrees from 1' "$sine" space.degree=0
wrong 'has no such thing' "$sine" solver.preconditioner=mass solver.smoother=blocks
wrong 'known up to degree 6' "$sine" solver.smoother_degree=7

[ "$failures" -eq 0 ]
