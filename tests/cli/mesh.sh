#!/bin/sh
# `eagre mesh` with files: what is converted, to other versions, to binary and back, is the same mesh;
# refining and other orders keep the domain; repairs are told; what is wrong ends with exit code 2, a
# message, and the old file in its place.
#
#     mesh.sh COMMAND [SOURCE-DIR]
set -u
eagre=$1
source=${2:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-mesh-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# succeeds WORD...: the command works without a warning.
succeeds() {
    "$eagre" mesh "$@" >"$work/out" 2>"$work/err" || fail "eagre mesh $*: $(cat "$work/err")"
    [ ! -s "$work/err" ] || fail "eagre mesh $* says: $(cat "$work/err")"
}

# refuses MESSAGE WORD...: the command ends with exit code 2 and a message that has these words.
refuses() {
    message=$1
    shift
    "$eagre" mesh "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "eagre mesh $* does not end with exit code 2"
    grep -qF -e "$message" "$work/err" ||
        fail "eagre mesh $* does not say \"$message\": $(cat "$work/err")"
}

# describe FILE: what `info` tells, a value a line; real numbers to 11 digits, and to 1e-12.
describe() {
    "$eagre" mesh info "$1" --json | tr ',{}[]' '\n' | awk '{
        for (i = 1; i <= NF; i++)
            printf "%s ", $i !~ /^-?[0-9.]+(e[-+][0-9]+)?$/ ? $i : $i * $i < 1e-24 ? 0 : sprintf("%.11g", $i)
        print ""
    }'
}

# same FILE WHY: it is the mesh that was described in $work/mesh.
same() {
    describe "$1" >"$work/this"
    if [ ! -s "$work/this" ] || ! cmp -s "$work/mesh" "$work/this"; then
        fail "$2: $(diff "$work/mesh" "$work/this" | head -8)"
    fi
}

# value KEY [DESCRIPTION]: a number of what was described, else of the mesh in $work/mesh.
value() {
    sed -n "s/^ *\"$1\": //p" "${2:-$work/mesh}"
}

# near A B WHY: two numbers agree to 1e-10.
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d * d <= 1e-20 * b * b) }' ||
        fail "$3: $1 is not $2"
}

# round_trip FILE WHY: 4.1, 2.2, binary, 4.1.
round_trip() {
    rm -f "$work"/[1-5].msh
    succeeds convert "$1" "$work/1.msh"
    succeeds convert "$work/1.msh" "$work/2.msh" --format 2.2
    succeeds convert "$work/2.msh" "$work/3.msh" --format 2.2 --binary
    succeeds convert "$work/3.msh" "$work/4.msh" --format 4.1 --binary
    succeeds convert "$work/4.msh" "$work/5.msh" --text
    describe "$1" >"$work/mesh"
    for i in 1 2 3 4 5; do
        same "$work/$i.msh" "$2 is another mesh after $i conversions"
    done
    head -n 2 "$work/2.msh" | grep -qx '2.2 0 8' || fail "$2: not version 2.2"
    head -n 2 "$work/3.msh" | grep -qx '2.2 1 8' || fail "$2: not a binary file of version 2.2"
    head -n 2 "$work/4.msh" | grep -qx '4.1 1 8' || fail "$2: not a binary file"
    head -n 2 "$work/5.msh" | grep -qx '4.1 0 8' || fail "$2: not a text file"
}

# box SHAPE KEY...: round trips of a box, refined, and of another order.
box() {
    what="$*"
    shape=$1
    shift
    case $shape in
    t*e | q*) cells='mesh.cells=[4,3]' divided=4 ;;
    *) cells='mesh.cells=[3,2,2]' divided=8 ;;
    esac
    succeeds generate mesh.shape="$shape" "$@" "$cells" --output "$work/box.msh"
    round_trip "$work/box.msh" "$what"
    succeeds refine "$work/box.msh" "$work/fine.msh"
    describe "$work/fine.msh" >"$work/fine"
    near "$(value "$shape" "$work/fine")" $(($(value "$shape") * divided)) "elements of $what, refined"
    near "$(value volume "$work/fine")" "$(value volume)" "volume of $what, refined"
    succeeds convert "$work/box.msh" "$work/high.msh" --order 4
    describe "$work/high.msh" >"$work/high"
    near "$(value order "$work/high")" 4 "order of $what"
    near "$(value volume "$work/high")" "$(value volume)" "volume of $what, raised"
}

for shape in triangle quadrilateral tetrahedron hexahedron; do
    box "$shape" mesh.perturb=0.2 'mesh.periodic=["y"]'
    # Straight elements come back to the last bit.
    cmp -s "$work/1.msh" "$work/5.msh" || fail "a straight $shape comes back with other bytes"
    map='"x + 0.1*y^2", "y + 0.1*x^2"'
    case $shape in t*n | h*) map=$map', "z"' ;; esac
    box "$shape" mesh.order=3 "mesh.map=[$map]"
done

# Twice refined is refined twice; --refine is the same everywhere.
succeeds generate 'mesh.cells=[2,2]' --output "$work/box.msh"
succeeds refine "$work/box.msh" "$work/a.msh" -n 2
succeeds refine "$work/box.msh" "$work/b.msh" --times 1
succeeds convert "$work/b.msh" "$work/c.msh" --refine 1
describe "$work/a.msh" >"$work/mesh"
same "$work/c.msh" "-n 2 and twice -n 1 differ"
near "$(value triangle)" 128 "triangles refined twice"
"$eagre" mesh info "$work/box.msh" --refine 2 --json >"$work/one"
"$eagre" mesh info "$work/a.msh" --json >"$work/two"
cmp -s "$work/one" "$work/two" || fail "info --refine 2 tells of another mesh"

# Memory for a degree: 10 values on each of 128 triangles, of 8 bytes.
succeeds info "$work/a.msh" --degree 3 --json
grep -q '"dof": *1280,' "$work/out" || fail "info --degree 3: $(cat "$work/out")"
grep -q '"field_bytes": *10240,' "$work/out" || fail "info --degree 3: $(cat "$work/out")"
tr ',{}' '\n' <"$work/out" >"$work/memory"
[ "$(value run_bytes "$work/memory")" -gt $(($(value bytes "$work/memory") + 3 * 10240)) ] ||
    fail "a run takes no more than the mesh and three fields: $(cat "$work/out")"
refuses '--degree takes a number from 0 to 10' info "$work/a.msh" --degree 11

# The files that are kept beside their geometries.
for file in "$source"/cases/geo/*.msh; do
    succeeds check "$file"
    grep -q "^$file is a valid mesh: " "$work/out" || fail "check says: $(cat "$work/out")"
done
for name in ball disc square-periodic; do
    round_trip "$source/cases/geo/$name.msh" $name
done

# Two triangles, one of them clockwise, and the same with two pairs of nodes at one place.
cat >"$work/turned.msh" <<'END'
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 2 "wall"
2 1 "domain"
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
1 1 2 2 1 1 2
2 1 2 2 2 2 3
3 1 2 2 3 3 4
4 1 2 2 4 4 1
5 2 2 1 1 1 2 3
6 2 2 1 1 1 4 3
$EndElements
END
sed -e 's/^4$/6/;s/^4 0 1 0$/4 0 1 0\n5 0 0 0\n6 1 1 0/' -e 's/^6 2 2 1 1 1 4 3/6 2 2 1 1 5 6 4/' \
    -e 's/^3 1 2 2 3 3 4/3 1 2 2 3 6 4/;s/^4 1 2 2 4 4 1/4 1 2 2 4 4 5/' \
    "$work/turned.msh" >"$work/double.msh"
succeeds check "$work/turned.msh"
grep -q '^note: .*turned over' "$work/out" || fail "check does not tell of a repair: $(cat "$work/out")"
tail -n 1 "$work/out" | grep -q 'is a valid mesh: 2 triangles of order 1, 1 boundary$' ||
    fail "check's last line: $(tail -n 1 "$work/out")"
succeeds check "$work/turned.msh" --json
grep -q '"valid": *true.*"notes": *\["' "$work/out" || fail "check --json: $(cat "$work/out")"
"$eagre" mesh info "$work/turned.msh" >"$work/out" 2>"$work/err" || fail "a repair is a failure"
grep -q warning "$work/err" || fail "info does not warn of a repair"
succeeds check "$work/double.msh" --merge
grep -q '^note: .*merged' "$work/out" || fail "check --merge says: $(cat "$work/out")"
"$eagre" mesh convert "$work/double.msh" "$work/single.msh" --merge >"$work/out" 2>"$work/err" ||
    fail "convert --merge: $(cat "$work/err")"
describe "$work/single.msh" >"$work/mesh"
near "$(value vertices)" 4 "vertices that are left"
near "$(value boundary_faces)" 4 "faces of the boundary that are left"

# Keys of cases serve files as well.
succeeds generate 'mesh.cells=[2,2]' --output "$work/a \"quoted\" name.msh"
"$eagre" mesh info "$work/a \"quoted\" name.msh" 'mesh.join=["left","right"]' mesh.order=2 --json \
    >"$work/out" 2>"$work/err" || fail "info with keys: $(cat "$work/err")"
grep -q '"order": *2,.*"boundaries": *{"bottom": *2, *"top": *2}' "$work/out" ||
    fail "info with keys: $(cat "$work/out")"
succeeds info "$work/double.msh" mesh.order=1 --merge --json
grep -q '"vertices": *4,' "$work/out" || fail "--merge with keys: $(cat "$work/out")"

# Pictures.
succeeds picture "$source/cases/geo/airfoil.msh" --output "$work/airfoil.svg" --width 400
grep -q '<svg' "$work/airfoil.svg" || fail "the picture is no SVG file"
grep -q airfoil "$work/airfoil.svg" || fail "the picture does not name the boundary"
if "$eagre" mesh picture "$source/cases/geo/ball.msh" -o "$work/ball.png" >"$work/out" 2>"$work/err"; then
    [ "$(od -An -tx1 -N8 "$work/ball.png" | tr -d ' \n')" = 89504e470d0a1a0a ] ||
        fail "the picture is no PNG file"
else
    grep -q libpng "$work/err" || fail "no PNG file: $(cat "$work/err")"
fi

# A mesh with elements that are not valid is drawn, but the command fails with what is wrong.
sed 's/^6 2 2 1 1 1 4 3/6 3 2 1 1 1 3 4 2/;s/^5 2 2.*/5 2 2 1 1 2 3 4/' \
    "$work/turned.msh" >"$work/tangled.msh"
refuses 'is tangled' check "$work/tangled.msh"
refuses "they are red in $work/tangled.svg" picture "$work/tangled.msh" -o "$work/tangled.svg"
grep -q '>not valid<' "$work/tangled.svg" || fail "the picture does not show what is tangled"
rm "$work/tangled.svg"
refuses 'is tangled' picture "$work/tangled.msh" -o "$work/tangled.svg" --refine 1
[ ! -e "$work/tangled.svg" ] || fail "a tangled mesh was refined"

# The ending .msh2 asks for version 2.2, unless --format does otherwise.
succeeds convert "$work/box.msh" "$work/old.msh2"
head -n 2 "$work/old.msh2" | grep -qx '2.2 0 8' || fail ".msh2 is not of version 2.2"
succeeds convert "$work/box.msh" "$work/new.msh2" --format 4.1
head -n 2 "$work/new.msh2" | grep -qx '4.1 0 8' || fail ".msh2 is not of the version of --format"

# A Gmsh file of any name is one; a geometry is none, and neither is a case.
{ echo && cat "$work/old.msh2"; } >"$work/data.dat"
describe "$work/box.msh" >"$work/mesh"
same "$work/data.dat" 'a Gmsh file of another name'
printf '$NOD\n1\n1 0 0 0\n$ENDNOD\n' >"$work/first.dat"
refuses 'version 1 of the format' check "$work/first.dat"
printf 'h = 0.1;\nPoint(1) = {0, 0, 0, h};\n' >"$work/disc.geo"
refuses 'disc.geo is a geometry: mesh it first with "gmsh -2 ' check "$work/disc.geo"
# not_run MESSAGE WORD...: eagre run ends with exit code 2 and a message that has these words.
not_run() {
    message=$1
    shift
    "$eagre" run "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "eagre run $* does not end with exit code 2"
    grep -qF -e "$message" "$work/err" || fail "eagre run $* says: $(cat "$work/err")"
}
disc=$source/cases/project-disc.toml
not_run 'disc.geo is a geometry' "$disc" mesh.file="$work/disc.geo"
not_run 'disc.geo is a geometry, not a case' "$work/disc.geo"
not_run 'data.dat is a mesh, not a case' "$work/data.dat"
not_run "mesh.file=$work/box.msh" "$work/box.msh"
"$eagre" run "$disc" mesh.file="$work/data.dat" --device cpu:1 >"$work/out" 2>"$work/err" ||
    fail "mesh.file of another name: $(cat "$work/err")"

# Periodic faces are counted as in a picture, and check tells what was joined.
succeeds info 'mesh.cells=[4,3]' 'mesh.periodic=["y"]'
grep -qx 'periodic    8 faces, joined in 4 pairs' "$work/out" || fail "info: $(cat "$work/out")"
succeeds info "$source/cases/geo/square-periodic.msh" --json
grep -q '"periodic_faces": *16,' "$work/out" || fail "info --json: $(cat "$work/out")"
succeeds picture "$source/cases/geo/square-periodic.msh" -o "$work/periodic.svg"
grep -q '>16 faces<' "$work/periodic.svg" || fail "the picture counts other periodic faces"
succeeds info mesh.cells=3 --json
grep -q '"periodic_faces": *0,' "$work/out" || fail "info --json: $(cat "$work/out")"
succeeds check "$source/cases/geo/square.msh" 'mesh.join=[left,right]'
grep -qx 'note: faces of "left" that were joined to those of "right", a shift (1, 0) away: 4' \
    "$work/out" || fail "check with mesh.join: $(cat "$work/out")"
refuses 'put brackets around them' check "$source/cases/geo/square.msh" mesh.join=left,right

# Groups of elements are kept, which check and info tell; elements in several, or in none among
# others, are told of.
sed -e 's/^2$/3/;s/^2 1 "domain"$/2 1 "fluid"\n2 3 "solid"/;s/^6 2 2 1 1 1 4 3/6 2 2 3 2 1 3 4/' \
    "$work/turned.msh" >"$work/groups.msh"
succeeds check "$work/groups.msh"
grep -q 'is a valid mesh: 2 triangles of order 1 in 2 groups, 1 boundary$' "$work/out" ||
    fail "check of groups: $(cat "$work/out")"
succeeds refine "$work/groups.msh" "$work/fine.msh" --binary
succeeds info "$work/fine.msh" --order 2
grep -qx '  fluid     4, area 0.5' "$work/out" && grep -qx '  solid     4, area 0.5' "$work/out" ||
    fail "info of groups: $(cat "$work/out")"
succeeds info "$work/fine.msh" --json
grep -q '"groups": *{"fluid": *{"elements": *4, *"volume": *0\.[0-9]*}, *"solid": *{' "$work/out" ||
    fail "info --json of groups: $(cat "$work/out")"
sed 's/^6 2 2 3 2/6 2 2 0 2/' "$work/groups.msh" >"$work/partly.msh"
succeeds check "$work/partly.msh"
grep -qx 'note: elements in no group, .* the group "no_group" from here on: 1' "$work/out" ||
    fail "check of elements in no group: $(cat "$work/out")"
sed -e 's/^6$/7/;s/^\$EndElements/7 2 2 1 2 1 3 4\n$EndElements/' "$work/groups.msh" >"$work/both.msh"
succeeds convert "$work/both.msh" "$work/first.msh" --json
grep -q '"notes": *\["elements in several groups, .* on: 1. Groups that lose some: .\"fluid' \
    "$work/out" || fail "convert of elements in two groups: $(cat "$work/out")"
succeeds info mesh.cells=2 --json
grep -q '"groups": *{}' "$work/out" || fail "info --json without groups: $(cat "$work/out")"

# Long names widen their column; noise beside the extent is 0; little memory is told in KiB.
sed 's/"wall"/"a long name of a wall"/;s/^1 0 0 0$/1 1e-17 -1e-17 0/' "$work/groups.msh" >"$work/long.msh"
succeeds info "$work/long.msh"
[ "$(awk '/^  a long name/ { print index($0, "4") } /^faces/ { print index($0, "5") }
    /^from/ { print index($0, "(") }' "$work/out" | uniq | wc -l)" -eq 1 ] ||
    fail "columns are not below each other: $(cat "$work/out")"
grep -q '^from  *(0, 0)$' "$work/out" || fail "noise is shown: $(cat "$work/out")"
grep -q '^memory  *0\.[1-9] KiB$' "$work/out" || fail "memory: $(cat "$work/out")"

# mesh.refine is --refine for every mesh; what no machine can hold is refused at once.
for words in 'mesh.cells=[2,2]' "$work/box.msh"; do
    "$eagre" mesh info "$words" --refine 2 --json >"$work/one" 2>"$work/err"
    "$eagre" mesh info "$words" mesh.refine=2 --json >"$work/two" 2>"$work/err"
    cmp -s "$work/one" "$work/two" || fail "$words: mesh.refine=2 is not --refine 2"
done
refuses 'refine less often' refine "$source/cases/geo/disc.msh" "$work/much.msh" -n 16
refuses 'refined 20 times are 7.037e+13, which take about' info "$source/cases/geo/disc.msh" \
    --refine 20
not_run 'mesh.refine=20' "$disc" mesh.refine=20

# What is wrong is refused, and what was there stays.
cp "$work/box.msh" "$work/kept.msh"
sed '/^2 2 /d;/^5 2 2/d' "$work/turned.msh" >"$work/wrong.msh"
refuses wrong.msh check "$work/wrong.msh"
refuses wrong.msh convert "$work/wrong.msh" "$work/kept.msh"
refuses missing.msh check "$work/missing.msh"
refuses 'takes a number from 0 to 20' refine "$work/box.msh" "$work/kept.msh" -n x
refuses 'no hexahedron of order 10' generate mesh.shape=hexahedron mesh.cells=1 --order 10 \
    --output "$work/kept.msh"
refuses '2.2 or 4.1' convert "$work/box.msh" "$work/kept.msh" --format 4.0
refuses 'exclude each other' convert "$work/box.msh" "$work/kept.msh" --binary --text
refuses 'ends with .msh' convert "$work/box.msh" "$work/kept.toml"
refuses 'name two files' convert "$work/kept.msh"
refuses 'name two files' refine mesh.cells=2
refuses 'no option --width' info "$work/box.msh" --width 300
refuses 'no option --output' convert "$work/box.msh" "$work/kept.msh" --output "$work/other.msh"
refuses '.svg or .png' picture "$work/box.msh" --output "$work/kept.msh"
refuses 'FILE.svg' picture "$work/box.msh"
refuses 'from 240 to' picture "$work/box.msh" --output "$work/box.svg" --width 1
refuses 'there is no directory' convert "$work/box.msh" "$work/nowhere/out.msh"
refuses '"cells" is for boxes' info "$work/box.msh" mesh.cells=3
refuses 'one file too many' info "$work/box.msh" other.msh
refuses 'is not a replacement' info "$work/box.msh" mesh.order=1 other
refuses 'Name a FILE' info
refuses 'Name a FILE' check --json
refuses 'did you mean "convert"' convret "$work/box.msh" "$work/kept.msh"
refuses '--merge is for Gmsh files' info mesh.cells=2 --merge
cmp -s "$work/box.msh" "$work/kept.msh" || fail "a failure has changed a file"
for file in "$work/kept.toml" "$work/other.msh" "$work"/*.tmp.*; do
    [ ! -e "$file" ] || fail "a failure has left $file"
done
"$eagre" mesh check "$work/wrong.msh" --json >"$work/out" 2>"$work/err"
grep -q '"error": *{' "$work/out" || fail "check --json does not tell what is wrong"

[ $failures -eq 0 ] || echo "$failures failures"
exit $((failures > 0))
