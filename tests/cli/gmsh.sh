#!/bin/sh
# Gmsh itself reads the meshes that `eagre mesh generate` writes: every shape, orders 1 to 4,
# straight, curved, periodic, and a ring, in versions 4.1 and 2.2, text and binary. It finds nothing to warn of, as many nodes and elements as
# there must be, positive Jacobians, the volume that eagre finds, and it writes the names of the
# groups again.
#
#     gmsh.sh COMMAND
set -u
command -v gmsh >/dev/null || exit 77
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-gmsh-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work" # Gmsh keeps its options there
failures=0
format= # options of `eagre mesh generate`

fail() {
    echo "FAILED: $* ($format)"
    failures=$((failures + 1))
}

# read_mesh DIM NODES ELEMENTS KEY=VALUE...: writes the mesh and lets Gmsh read it.
read_mesh() {
    dim=$1
    nodes=$2
    elements=$3
    shift 3
    rm -f "$work"/mesh.msh "$work"/again.msh
    cat >"$work/analyse.geo" <<END
Plugin(AnalyseMeshQuality).JacobianDeterminant = 1;
Plugin(AnalyseMeshQuality).Run;
Plugin(MeshVolume).Dimension = $dim;
Plugin(MeshVolume).Run;
Save "$work/again.msh";
END
    # shellcheck disable=SC2086 # a list of options
    if ! "$eagre" mesh generate "$@" $format --output "$work/mesh.msh" >"$work/out" 2>&1; then
        fail "eagre mesh generate $*: $(cat "$work/out")"
        return
    fi
    "$eagre" mesh info "$@" --json >"$work/info" 2>&1 || fail "eagre mesh info $*"
    gmsh "$work/mesh.msh" "$work/analyse.geo" -check -parse_and_exit >"$work/log" 2>&1 ||
        fail "Gmsh cannot read and write the mesh of $*"

    # Builds of Gmsh without ANN say so at every periodic mesh, their own as well.
    grep -E '^(Warning|Error)' "$work/log" | grep -v 'ANN support' >"$work/complaints" &&
        fail "Gmsh complains of $*: $(cat "$work/complaints")"
    grep -q ": $nodes nodes" "$work/log" || fail "Gmsh does not find $nodes nodes in $*"
    grep -q ": $elements elements" "$work/log" || fail "Gmsh does not find $elements elements in $*"
    jacobian=$(sed -n 's/.*minJ *= *\([^,]*\),.*/\1/p' "$work/log")
    volume=$(sed -n 's/.*Mesh volume.*: *//p' "$work/log")
    ours=$(sed -n 's/.*"volume": *\([^,}]*\).*/\1/p' "$work/info")
    awk -v j="$jacobian" 'BEGIN { exit !(j > 0) }' || fail "the least Jacobian is $jacobian in $*"
    # Gmsh takes tetrahedra for straight here, and its cubature is exact for triangles only.
    case $* in
    *triangle*) tolerance=1e-5 ;;
    *) tolerance=1e-2 ;;
    esac
    awk -v a="$volume" -v b="$ours" -v tolerance=$tolerance \
        'BEGIN { d = (a - b) / b; exit !(b > 0 && d < tolerance && -d < tolerance) }' ||
        fail "Gmsh finds the volume $volume, eagre $ours in $*"
    for file in mesh again; do
        LC_ALL=C sed -n '/^\$PhysicalNames/,/^\$EndPhysicalNames/p' "$work/$file.msh" | sort >"$work/$file"
    done
    cmp -s "$work/mesh" "$work/again" || fail "Gmsh loses names of $*"
}

plane='mesh.map=["x*(1 + 0.3*y*y) + 0.05*sin(2*pi*y)", "y + 0.1*x*x"]'
space='mesh.map=["x*(1 + 0.3*y*z) + 0.05*sin(2*pi*y)", "y + 0.1*x*x", "z + 0.1*x*y"]'
for n in 1 2 3 4; do
    square=$(((3 * n + 1) * (2 * n + 1)))
    cube=$((square * (2 * n + 1)))
    for map in mesh.perturb=0.1 curved; do
        [ $map = curved ] && map=$plane
        read_mesh 2 $square 22 mesh.shape=triangle 'mesh.cells=[3,2]' mesh.order=$n "$map"
        read_mesh 2 $square 16 mesh.shape=quadrilateral 'mesh.cells=[3,2]' mesh.order=$n "$map"
        [ "$map" = "$plane" ] && map=$space
        read_mesh 3 $cube 136 mesh.shape=tetrahedron 'mesh.cells=[3,2,2]' mesh.order=$n "$map"
        read_mesh 3 $cube 44 mesh.shape=hexahedron 'mesh.cells=[3,2,2]' mesh.order=$n "$map"
    done
done

# Every other form of files: curved elements of each shape.
for format in '--format 4.1 --binary' '--format 2.2' '--format 2.2 --binary'; do
    read_mesh 2 70 22 mesh.shape=triangle 'mesh.cells=[3,2]' mesh.order=3 "$plane"
    read_mesh 2 70 16 mesh.shape=quadrilateral 'mesh.cells=[3,2]' mesh.order=3 "$plane"
    read_mesh 3 490 136 mesh.shape=tetrahedron 'mesh.cells=[3,2,2]' mesh.order=3 "$space"
    read_mesh 3 490 44 mesh.shape=hexahedron 'mesh.cells=[3,2,2]' mesh.order=3 "$space"
done

# Both sides of periodic faces are elements; the pairs of their nodes come through.
wave='mesh.map=["x + 0.1*sin(2*pi*y)", "y + 0.1*sin(2*pi*x)"]'
pairs() {
    LC_ALL=C sed -n '/^\$Periodic/,/^\$EndPeriodic/p' "$1" | wc -l
}
for format in '--format 4.1' '--format 4.1 --binary' '--format 2.2' '--format 2.2 --binary'; do
    read_mesh 2 70 22 mesh.shape=triangle 'mesh.cells=[3,2]' mesh.order=3 \
        'mesh.periodic=["x","y"]' "$wave"
    # Gmsh 4.8 loses the pairs of files of version 2.2, its own as well.
    case $format in
    *4.1*) [ "$(pairs "$work/again.msh")" -eq 26 ] || fail "Gmsh loses pairs of nodes" ;;
    esac
    case $format in
    *4.1*binary) ;;
    *) [ "$(pairs "$work/mesh.msh")" -eq 26 ] || fail "there are not 7 and 10 pairs of nodes" ;;
    esac
done
format=

# A ring whose seam is closed: 5 · 3 nodes around, 7 across.
seam='mesh.map=["(1 + y)*cos(2*pi*x)", "-(1 + y)*sin(2*pi*x)"]'
read_mesh 2 105 20 mesh.shape=quadrilateral 'mesh.cells=[5,2]' mesh.order=3 'mesh.periodic=["x"]' \
    "$seam"
grep -q '^\$Periodic' "$work/mesh.msh" && fail "the seam of the ring is open"

[ $failures -eq 0 ] || echo "$failures failures"
exit $((failures > 0))
