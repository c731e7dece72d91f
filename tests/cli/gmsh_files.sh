#!/bin/sh
# eagre reads what Gmsh itself writes: versions 2.2 and 4.1, text and binary, orders 1 to 5 and some
# to 10, all shapes and mixtures of two, flat and round, periodic, in a plane somewhere in space,
# with parametric coordinates, divided into parts with ghosts. It finds the elements, vertices, faces
# and groups that Gmsh has written, and the area or volume: Gmsh's own, and that of the geometry.
# Groups of elements come through every conversion, and Gmsh finds them in what eagre writes.
#
#     gmsh_files.sh COMMAND SOURCE-DIR
set -u
command -v gmsh >/dev/null || exit 77
eagre=$1
source=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-gmsh-files-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work" # Gmsh keeps its options there
failures=0
files=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# --- what Gmsh says -------------------------------------------------------------------------------

# write_files GEO DIM [NAME=NUMBER...]: lets Gmsh mesh a geometry and write it as
# ORDER-VERSION-BINARY.msh for all of these, with parametric coordinates as parametric-….msh, and
# divided into parts as parts-….msh.
write_files() {
    geo=$1
    dim=$2
    shift 2
    for parameter in "$@"; do
        set -- "$@" -setnumber "${parameter%%=*}" "${parameter#*=}"
        shift
    done
    rm -f "$work"/*.msh
    cat >"$work/write.geo" <<END_GEO
Macro SaveAll
  For version In {0 : 1}
    For binary In {0 : 1}
      Mesh.MshFileVersion = version ? 4.1 : 2.2;
      Mesh.Binary = binary;
      Save StrCat("$work/", Str(what), Sprintf("-%g-%g.msh", version ? 41 : 22, binary));
    EndFor
  EndFor
Return
Include "$geo";
Mesh $dim;
For order In {1 : $most}
  If(order > 1)
    SetOrder order;
  EndIf
  If(order == 1 || ($dim == 2 && order <= 5)) // it takes long for high orders
    Plugin(MeshVolume).Dimension = $dim;
    Plugin(MeshVolume).Run;
  EndIf
  what = Sprintf("%g", order);
  Call SaveAll;
EndFor
Mesh.SaveParametric = 1;
what = "parametric";
Call SaveAll;
Mesh.SaveParametric = 0;
Mesh.PartitionCreateGhostCells = 1;
PartitionMesh 3;
what = "parts";
Call SaveAll;
END_GEO
    gmsh "$work/write.geo" "$@" -setnumber order 1 -nt 1 -parse_and_exit >"$work/log" 2>&1 ||
        fail "Gmsh cannot make $name: $(tail -n 3 "$work/log")"
}

# Counts what the text of version 4.1 says: lines of "KEY VALUE". Groups that are joined do not count.
count_elements() {
    awk -v dim="$dim" -v joined="$joined" '
    $1 ~ /^\$End/ { section = ""; next }
    $1 ~ /^\$/ { section = $1; row = 0; next }
    { row++ }
    section == "$PhysicalNames" && row > 1 {
        name = $0
        sub(/^[0-9]+ [0-9]+ "/, "", name)
        sub(/"$/, "", name)
        group[$1, $2] = name
        if ($1 == dim - 1) faces[name] = 0
    }
    section == "$Entities" && row == 1 { points = $1; curves = $2; surfaces = $3; next }
    section == "$Entities" {
        n = row - 1
        of = (n > points) + (n > points + curves) + (n > points + curves + surfaces)
        at = of == 0 ? 5 : 8
        physical[of, $1] = $at > 0 ? $(at + 1) : 0
    }
    section == "$Nodes" && row == 1 { print "vertices", $2 }
    section == "$Elements" && row > 1 {
        if (left > 0) { left--; next }
        left = $4
        if ($1 == dim) elements[$3] += $4
        if ($1 == dim) inside[group[$1, physical[$1, $2]]] += $4
        if ($1 == dim - 1) faces[group[$1, physical[$1, $2]]] += $4
    }
    END {
        split("triangle 3 quadrilateral 4 tetrahedron 4 hexahedron 6", shape, " ")
        for (type = 2; type <= 5; type++)
            if (type in elements) {
                print shape[2 * type - 3], elements[type]
                all += shape[2 * type - 2] * elements[type]
            }
        for (name in inside)
            print "group \"" name "\"", inside[name]
        split(joined, gone, " ")
        for (i in gone)
            delete faces[gone[i]]
        for (name in faces) {
            print "\"" name "\"", faces[name]
            boundary += faces[name]
        }
        print "boundary_faces", boundary + 0
        print "faces", (all + boundary) / 2
    }' "$1"
}

# The same of the JSON that eagre prints.
count_json() {
    awk '{
        match($0, /"boundaries": *\{[^}]*\}/)
        n = split(substr($0, RSTART, RLENGTH), part, /[{,}]/)
        for (i = 2; i < n; i++)
            if (match(part[i], /": */)) {
                name = part[i]
                sub(/^ */, "", name)
                sub(/": */, "\" ", name)
                print name
            }
        match($0, /"groups": *\{([^{}]*\{[^}]*\})*\}/)
        n = split(substr($0, RSTART + 10, RLENGTH - 10), part, /"elements": */)
        for (i = 1; i < n; i++) {
            name = part[i]
            sub(/": *\{$/, "\"", name)
            sub(/.*[{,] *"/, "group \"", name)
            count = part[i + 1]
            sub(/,.*/, "", count)
            print name, count
        }
        n = split("dim order vertices faces boundary_faces triangle quadrilateral tetrahedron " \
            "hexahedron", key, " ")
        for (i = 1; i <= n; i++)
            if (match($0, "\"" key[i] "\": *[0-9]+")) {
                value = substr($0, RSTART, RLENGTH)
                sub(/.*: */, "", value)
                print key[i], value
            }
    }' "$1" | sort
}

# near A B TOLERANCE: the two are the same but for this part of B.
near() {
    awk -v a="$1" -v b="$2" -v t="$3" \
        'BEGIN { d = a - b; exit !(a != "" && b > 0 && d <= t * b && -d <= t * b) }'
}

# --- what eagre says of it ------------------------------------------------------------------------

# look FILE: eagre finds in it what is expected; sets found to its volume.
look() {
    files=$((files + 1))
    found=
    if ! "$eagre" mesh info "$work/$1" --json >"$work/json" 2>"$work/err"; then
        fail "$name, $1: $(cat "$work/err")"
        return
    fi
    grep -v 'the mesh lies in an oblique plane' "$work/err" >"$work/complaints" &&
        fail "$name, $1: $(cat "$work/complaints")"
    count_json "$work/json" >"$work/found"
    cmp -s "$work/expected" "$work/found" ||
        fail "$name, $1: Gmsh (<) and eagre (>) count $(diff "$work/expected" "$work/found")"
    found=$(sed 's/.*"volume": *\([^,}]*\).*/\1/' "$work/json")
}

# look_at_text ORDER: looks at the text of version 4.1 and sets volume to what it finds. That is
# Gmsh's volume, which has six digits and is exact for curved elements only if they are triangles; and
# that of the geometry, from which curved elements differ by less the higher their order is.
look_at_text() {
    look "$1-41-0.msh"
    volume=$found
    theirs=$(sed -n 's/.*Mesh volume.*: *//p' "$work/log" | sed -n "$1p")
    if [ "$1" -eq 1 ] || { [ -n "$theirs" ] && ! grep -q quadrilateral "$work/expected"; }; then
        near "$volume" "$theirs" 1e-5 ||
            fail "$name of order $1: the volume is $volume, Gmsh's is $theirs"
    fi
    tolerance=1e-13
    [ "$flat" = flat ] ||
        tolerance=$(echo 0.2 4e-3 2e-3 4e-5 4e-5 1e-6 | cut -d ' ' -f $(($1 < 6 ? $1 : 6)))
    near "$volume" "$exact" "$tolerance" ||
        fail "$name of order $1: the volume is $volume, that of the geometry $exact"
}

# look_at NAME FORMAT...: looks at files that must have the volume of that text.
look_at() {
    what=$1
    shift
    for format in "$@"; do
        look "$what-$format.msh"
        near "$found" "$volume" 1e-13 ||
            fail "$name, $what-$format.msh: the volume is $found, that of the text $volume"
    done
}

# check NAME flat|round VOLUME JOINED GEO DIM [NAME=NUMBER...]: looks at the files of a geometry, to
# order $most. The other formats take turns, unless EAGRE_TEST_LONG is set.
check() {
    name=$1
    flat=$2
    exact=$3
    joined=$4
    shift 4
    write_files "$@"
    count_elements "$work/1-41-0.msh" >"$work/counts"
    for order in $(seq "$most"); do
        (cat "$work/counts" && echo "dim $dim" && echo "order $order") | sort >"$work/expected"
        look_at_text "$order"
        case ${EAGRE_TEST_LONG:+all}$((order % 2)) in
        0) look_at "$order" 22-0 ;;
        1) look_at "$order" 22-1 41-1 ;;
        *) look_at "$order" 22-0 22-1 41-1 ;;
        esac
    done
    look_at parametric 22-0 22-1 41-0 41-1
    look_at parts 22-0 22-1 41-0 41-1
}

# --- groups of elements ---------------------------------------------------------------------------

# group_volume NAME: what the JSON of the last look says of a group.
group_volume() {
    sed "s/.*\"$1\": *{\"elements\": *[0-9]*, *\"volume\": *\([^}]*\)}.*/\1/" "$work/json"
}

# gmsh_volume FILE NAME: the volume that Gmsh finds of a group in a straight file of text.
gmsh_volume() {
    tag=$(sed -n "s/^$dim \([0-9]*\) \"$2\"\$/\1/p" "$work/$1")
    cat >"$work/volume.geo" <<END_GEO
Plugin(MeshVolume).Dimension = $dim;
Plugin(MeshVolume).PhysicalGroup = $tag;
Plugin(MeshVolume).Run;
END_GEO
    gmsh "$work/$1" "$work/volume.geo" -parse_and_exit 2>&1 | sed -n 's/.*Mesh volume.*: *//p'
}

# convert IN OUT [OPTION...]
convert() {
    from=$1
    to=$2
    shift 2
    "$eagre" mesh convert "$work/$from" "$work/$to" "$@" >"$work/out" 2>&1 ||
        fail "$name, eagre mesh convert $from $to $*: $(cat "$work/out")"
}

# check_groups [NAME=VOLUME...]: of the geometry that was checked last. The groups of its files have
# the volumes of the geometry's; files of the orders 1 and 3 go through all four forms, each made of
# the one before, and keep their groups, as Gmsh's own reader finds; refining divides the elements.
check_groups() {
    for order in 1 3; do
        (cat "$work/counts" && echo "dim $dim" && echo "order $order") | sort >"$work/expected"
        tolerance=1e-13
        [ "$flat" = flat ] || tolerance=$(echo 0.2 4e-3 2e-3 | cut -d ' ' -f $order)
        convert $order-22-0.msh all-41-1.msh --format 4.1 --binary
        convert all-41-1.msh all-22-1.msh --format 2.2 --binary
        convert all-22-1.msh all-41-0.msh --format 4.1 --text
        convert all-41-0.msh all-22-0.msh --format 2.2
        for file in $order-41-1.msh all-41-1.msh all-22-1.msh all-41-0.msh all-22-0.msh; do
            look $file
            for group in "$@"; do
                near "$(group_volume "${group%=*}")" "${group#*=}" "$tolerance" ||
                    fail "$name, $file: the volume of $group is $(group_volume "${group%=*}")"
            done
        done
        [ $order -eq 1 ] || continue
        for file in all-41-0.msh all-22-0.msh; do
            look $file
            for group in "$@"; do
                theirs=$(gmsh_volume $file "${group%=*}")
                near "$theirs" "$(group_volume "${group%=*}")" 1e-5 ||
                    fail "$name, $file: the volume of ${group%=*} is Gmsh's $theirs," \
                        "ours is $(group_volume "${group%=*}")"
            done
        done
    done
    convert 3-41-1.msh fine.msh --refine 1
    look_fine $((dim == 2 ? 4 : 8)) $((dim == 2 ? 2 : 4))
}

# look_fine CHILDREN PARTS: elements have so many children, faces are so many parts.
look_fine() {
    (cat "$work/counts" && echo "dim $dim" && echo 'order 3') | awk -v children="$1" -v parts="$2" '
        /^"|^boundary/ { $NF *= parts }
        /^(group|tri|quad|tet|hex)/ { $NF *= children }
        !/^(faces|vertices)/' | sort >"$work/fine"
    "$eagre" mesh info "$work/fine.msh" --json >"$work/json"
    count_json "$work/json" | grep -v '^faces\|^vertices' | cmp -s "$work/fine" - ||
        fail "$name, refined: $(count_json "$work/json" | diff "$work/fine" -)"
}

cases=$source/cases/geo
data=$source/tests/data/gmsh
pi=3.14159265358979324
most=10
check 'a disc' round $pi '' "$cases/disc.geo" 2
check 'a disc of quadrilaterals' round $pi '' "$cases/disc.geo" 2 quadrilaterals=1
most=${EAGRE_TEST_LONG:+9}
most=${most:-6}
check 'a bar of hexahedra' round $pi '' "$data/bar.geo" 3 cells=2
most=5
check 'a disc in space' round $pi '' "$data/tilted.geo" 2
check 'an L' flat 3 '' "$cases/l-shape.geo" 2 h=0.4 h_corner=0.1
check 'an L of quadrilaterals' flat 3 '' "$cases/l-shape.geo" 2 h=0.4 h_corner=0.2 quadrilaterals=1
check 'a periodic square' flat 1 'left right bottom top' "$cases/square.geo" 2 periodic=1
check 'a square with a hole' round 1.49734517543 '' "$data/hole.geo" 2
check 'a hole in quadrilaterals' round 1.49734517543 '' "$data/hole.geo" 2 quadrilaterals=1
check 'triangles and quadrilaterals' flat 2 '' "$data/mixed.geo" 2
check_groups triangles=1 quadrilaterals=1
check 'a ball' round 4.18879020478639099 '' "$cases/ball.geo" 3
check 'a box of tetrahedra' flat 3 'west east' "$data/box.geo" 3
check 'a box of hexahedra' flat 3 'west east' "$data/box.geo" 3 hexahedra=1
most=3
check 'two layers' round $pi '' "$data/layers.geo" 2
check_groups core=0.785398163397448310 shell=2.35619449019234493
check 'layers in several groups' round $pi '' "$data/layers.geo" 2 several=2
check_groups core=0.785398163397448310 shell=1.17809724509617246 upper=1.17809724509617246
check 'blocks of tetrahedra' flat 3 '' "$data/blocks.geo" 3
check_groups ends=2 middle=1
check 'blocks of hexahedra' flat 3 '' "$data/blocks.geo" 3 hexahedra=1
check_groups ends=2 middle=1

# The files that are kept are what their geometries say: the same shapes, order, groups and volume.
# Other versions of Gmsh may divide them into other elements.
describe() {
    "$eagre" mesh info "$1" --json 2>/dev/null >"$work/json"
    count_json "$work/json" | sed -E 's/^("|tri|quad|tet|hex)(.*) .*/\1\2/; /^vertices|faces/d'
    sed 's/.*"volume": *\([^,}]*\).*/\1/' "$work/json" | awk '{ printf "volume %.2f\n", $1 }'
}
"$source/tools/meshes.sh" "$work/kept" || fail "tools/meshes.sh"
for file in "$cases"/*.msh "$data"/*.msh; do
    files=$((files + 1))
    describe "$file" >"$work/expected"
    describe "$work/kept/${file#"$source/"}" >"$work/found"
    cmp -s "$work/expected" "$work/found" ||
        fail "$file (<) is not what its geometry gives (>): $(diff "$work/expected" "$work/found")"
done

echo "$files files"
[ $failures -eq 0 ] || echo "$failures failures"
exit $((failures > 0))
