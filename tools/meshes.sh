#!/bin/sh
# Makes the .msh files that are kept beside the .geo files of cases/geo, and those that tests read,
# with the Gmsh command. Gmsh 4.8.4 gives the very files that are kept; other versions may divide a
# geometry otherwise.
#
#     tools/meshes.sh [DIRECTORY]     writes below that directory instead of into the tree
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root}
if ! command -v gmsh >/dev/null; then
    echo "There is no command gmsh; on Debian: apt-get install gmsh" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" # Gmsh keeps its options there

# mesh FILE.msh DIMENSION FILE.geo [NAME=NUMBER...]: makes a mesh with these parameters.
mesh()
{
    file=$out/$1
    dim=$2
    source=$root/$3
    shift 3
    mkdir -p "$(dirname "$file")"
    for parameter in "$@"; do
        set -- "$@" -setnumber "${parameter%%=*}" "${parameter#*=}"
        shift
    done
    gmsh "-$dim" "$source" "$@" -format msh41 -nt 1 -v 2 -o "$file" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    # Builds of Gmsh without ANN say so at every periodic mesh.
    if grep -E '^(Warning|Error)' "$work/log" | grep -v 'ANN support' >&2; then
        echo "$file is not a good mesh" >&2
        exit 1
    fi
}

geo=cases/geo
mesh $geo/square.msh 2 $geo/square.geo
mesh $geo/square-periodic.msh 2 $geo/square.geo periodic=1
mesh $geo/square-cylinder.msh 2 $geo/square-cylinder.geo
mesh $geo/disc.msh 2 $geo/disc.geo
mesh $geo/l-shape.msh 2 $geo/l-shape.geo
mesh $geo/airfoil.msh 2 $geo/airfoil.geo coarsen=1.5
mesh $geo/ball.msh 3 $geo/ball.geo

data=tests/data/gmsh
for order in 1 2 3 4 5; do
    mesh $data/disc-$order-coarse.msh 2 $geo/disc.geo order=$order h=1
    mesh $data/disc-$order-fine.msh 2 $geo/disc.geo order=$order h=0.5
done
mesh $data/disc-quadrilaterals.msh 2 $geo/disc.geo order=3 h=1 quadrilaterals=1
mesh $data/mixed.msh 2 $data/mixed.geo
mesh $data/octahedron.msh 3 $data/octahedron.geo
mesh $data/ball.msh 3 $geo/ball.geo order=3 h=1.4
mesh $data/bar.msh 3 $data/bar.geo
mesh $data/square-16.msh 2 $geo/square.geo h=0.5
mesh $data/square-10.msh 2 $data/square-10.geo
