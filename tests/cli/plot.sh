#!/bin/sh
# `eagre plot`: pictures of what a run leaves behind, by its fields and expressions of them, of series and
# checkpoints; what is wrong ends with exit code 2 and a message that says what there is.
#
#     plot.sh COMMAND [SOURCE-DIR]
set -u
eagre=$1
source=${2:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-plot-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# draws FILE WORD...: the command works, says nothing but the names of files, and makes the PNG file.
draws() {
    picture=$1
    shift
    rm -f "$picture"
    "$eagre" plot "$@" >"$work/out" 2>"$work/err" || fail "eagre plot $*: $(cat "$work/err")"
    [ ! -s "$work/err" ] || fail "eagre plot $* says: $(cat "$work/err")"
    is_png "$picture" || fail "eagre plot $* made no $picture"
}

is_png() {
    [ -f "$1" ] && [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
}

# size FILE: width and height of a PNG file.
size() {
    head -c 24 "$1" | tail -c 8 | od -An -tu1 |
        awk '{ print $1 * 16777216 + $2 * 65536 + $3 * 256 + $4 "x" $5 * 16777216 + $6 * 65536 + $7 * 256 + $8 }'
}

# refuses MESSAGE WORD...: exit code 2 and a message that has these words.
refuses() {
    message=$1
    shift
    "$eagre" plot "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "eagre plot $* does not end with exit code 2"
    grep -qF -e "$message" "$work/err" ||
        fail "eagre plot $* does not say \"$message\": $(cat "$work/err")"
}

# value KEY: a number of the object that was printed last.
value() {
    grep -o "\"$1\": [^,}]*" "$work/out" | head -n 1 | sed 's/.*: //'
}

# near A B TOLERANCE WHY
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= t && -d <= t) }' ||
        fail "$4: $1 is not $2"
}

cat >"$work/bell.toml" <<'CASE'
model = "advection"
[mesh]
shape = "quadrilateral"
cells = [6, 6]
periodic = ["x", "y"]
[space]
degree = 3
[advection]
velocity = ["1", "0"]
[initial]
u = "sin(2*pi*x)"
w = "2 + cos(2*pi*y)"
[time]
scheme = "rk4"
dt = 0.01
end = 0.1
CASE
results=$work/bell
"$eagre" run "$work/bell.toml" output.directory="$results" output.fields.time=0.05 output.series.steps=1 \
    >"$work/out" 2>"$work/err" || {
    grep -q 'without zlib' "$work/err" && exit 77
    fail "the case does not run: $(cat "$work/err")"
    exit 1
}
last=$results/fields/00000010.vtu

# Without libpng nothing is drawn, and that is said.
if "$eagre" plot "$last" --output "$work/a.png" 2>&1 >"$work/out" | grep -q 'without libpng'; then
    exit 77
fi

# A file: beside it, by a name, in a size, on black.
draws "$results/fields/00000010.png" "$last"
draws "$work/a.png" "$last" --output "$work/a.png" --width 640 --height 480 --dark --mesh --contours 5
[ "$(size "$work/a.png")" = 640x480 ] || fail "the picture is $(size "$work/a.png")"
cp "$work/a.png" "$work/b.png"
draws "$work/a.png" "$last" --output "$work/a.png" --width 640 --height 480 --dark --mesh --contours 5
cmp -s "$work/a.png" "$work/b.png" || fail "the same picture twice is not the same file"
for colours in sea fire grey balance wheel; do
    draws "$work/$colours.png" "$last" -o "$work/$colours.png" --colours $colours --width 300
done
cmp -s "$work/sea.png" "$work/fire.png" && fail "two colour maps look alike"

# What is drawn: fields and expressions, evaluated at pixels.
draws "$work/a.png" "$last" -o "$work/a.png" --json
near "$(value most)" 1 0.01 "the greatest value of u"
near "$(value time)" 0.1 1e-12 "the time"
[ "$(value elements)" = 36 ] || fail "of 36 elements $(value elements) were drawn"
[ "$(value undefined)" = 0 ] || fail "values are undefined"
grep -q '"field": "u"' "$work/out" || fail "the first field is not u"
draws "$work/a.png" "$last" -o "$work/a.png" --json --field w
near "$(value least)" 1 0.01 "the least value of w"
draws "$work/a.png" "$last" -o "$work/a.png" --json --field 'w^2 + 0*u + t'
near "$(value most)" 9.1 0.01 "the greatest value of w^2 + t"
draws "$work/a.png" "$last" -o "$work/a.png" --json --field x --zoom 0.25,0.5,0,0.25 --range 0,1
near "$(value least)" 0.25 0.002 "the least x of a part"
near "$(value most)" 0.5 0.002 "the greatest x of a part"
draws "$work/a.png" "$last" -o "$work/a.png" --json --field 'log(x - 0.5)' --levels -3,-2,-1
near "$(awk "BEGIN { print $(value undefined) / $(value pixels) }")" 0.5 0.01 "half is undefined"

# A series: frames with one range, or one of them.
draws "$results/frame_0002.png" "$results/fields.pvd" --field 'u*(1 + t)'
[ "$(wc -l <"$work/out")" -eq 3 ] || fail "not three frames: $(cat "$work/out")"
is_png "$results/frame_0000.png" || fail "there is no frame 0"
draws "$work/u_0001.png" "$results/fields.pvd" --field 't' --output "$work/u.png" --json
grep -q '"range": \[0, 0.1\]' "$work/out" || fail "the frames do not share a range: $(cat "$work/out")"
draws "$work/one.png" "$results/fields.pvd" --frame last --output "$work/one.png" --json
near "$(value time)" 0.1 1e-12 "the time of the last frame"
draws "$work/one.png" "$results/fields.pvd" --frame 1 --output "$work/one.png" --json
near "$(value time)" 0.05 1e-12 "the time of frame 1"

# A checkpoint has the same values.
if "$eagre" run "$work/bell.toml" output.directory="$work/kept" output.checkpoint.steps=10 \
    >"$work/out" 2>"$work/err"; then
    draws "$work/c.png" "$work/kept" --output "$work/c.png" --title one
    draws "$work/d.png" "$last" --output "$work/d.png" --title one
    cmp -s "$work/c.png" "$work/d.png" || fail "the checkpoint looks unlike the file"

    # It is not drawn on another mesh than its own.
    "$eagre" mesh generate "$work/bell.toml" -o "$work/bell.msh" >"$work/out" 2>&1 ||
        fail "no mesh: $(cat "$work/out")"
    sed "/^shape = /d; /^periodic = /d; s|^cells = .*|file = \"$work/bell.msh\"|" "$work/bell.toml" \
        >"$work/file.toml"
    "$eagre" run "$work/file.toml" output.directory="$work/file" output.checkpoint.steps=10 \
        >"$work/out" 2>"$work/err" || fail "the mesh of a file: $(cat "$work/err")"
    draws "$work/c.png" "$work/file" --output "$work/c.png"
    "$eagre" mesh generate "$work/bell.toml" mesh.perturb=0.1 -o "$work/bell.msh" >"$work/out" 2>&1
    refuses 'was written on another mesh' "$work/file" --output "$work/c.png"
else
    grep -q 'without HDF5' "$work/err" || fail "no checkpoint: $(cat "$work/err")"
fi

# Space: the middle of the shortest extent, or any plane.
"$eagre" run "$source/cases/project-sine.toml" mesh.shape=tetrahedron 'mesh.cells=[3,3,3]' \
    'mesh.high=[1,2,3]' initial.u=x+10*y+100*z exact.u=0 space.degree=2 output.fields.end=true \
    output.directory="$work/space" >"$work/out" 2>"$work/err" || fail "space: $(cat "$work/err")"
space=$(ls "$work"/space/fields/*.vtu)
draws "$work/a.png" "$space" -o "$work/a.png" --json
near "$(value x)" 0.5 1e-12 "the plane"
near "$(value most)" 320.5 1 "the greatest value in the plane"
draws "$work/a.png" "$space" -o "$work/a.png" --json --slice z=3 --mesh
near "$(value z)" 3 0 "the plane"
near "$(value least)" 300 0.2 "the least value in the plane"

# A table is a chart.
rm -f "$work/t.svg"
"$eagre" plot "$results/series.csv" --output "$work/t.svg" >"$work/out" 2>"$work/err" ||
    fail "the series is not drawn: $(cat "$work/err")"
grep -q '<svg' "$work/t.svg" || fail "the chart is no SVG file"

# What is wrong.
refuses 'there is no field "v"' "$last" --field v
refuses 'the fields are u, w' "$last" --field v
refuses 'did you mean "w"' "$last" --field ww
refuses 'the fields are u, w' "$last" --field 'u + q'
refuses 'what of?'
refuses 'one file at a time' "$last" "$last"
refuses 'what is it?' "$work/bell.toml"
refuses 'nothing.vtu' "$work/nothing.vtu"
refuses "a picture's name ends with .png" "$last" --output "$work/a.jpg"
refuses 'there is no directory' "$last" --output "$work/no/a.png"
refuses 'did you mean "fire"' "$last" --colours fir
refuses '--range takes 2 numbers' "$last" --range 1
refuses '--range takes 2 numbers' "$last" --range 1,2,3
refuses '--range takes 2 numbers' "$last" --range 1,nan
refuses 'is empty' "$last" --range 2,1
refuses '--zoom takes 4 numbers' "$last" --zoom 1,2,3
refuses '--slice takes a plane' "$space" --slice w=1
refuses '--slice takes a plane' "$space" --slice z=
refuses 'outside of the domain' "$space" --slice z=4
refuses 'no slices' "$last" --slice z=0
refuses '--width takes a number from 240' "$last" --width 10
refuses '--frame takes one of a series' "$last" --frame 0
refuses '--frame takes a number from 0 to 2' "$results/fields.pvd" --frame 3
refuses '--x is no option of pictures' "$last" --x time
refuses '--range is no option of charts' "$results/series.csv" --range 0,1
head -c 200 "$last" >"$work/cut.vtu"
refuses 'cut.vtu' "$work/cut.vtu"
refuses 'cannot write' "$last" --output "$work/space/fields.png/a.png"

# Pictures are written whole or not at all.
printf old >"$work/kept.png"
refuses 'there is no field' "$last" --field v --output "$work/kept.png"
[ "$(cat "$work/kept.png")" = old ] || fail "an old picture was lost"

[ "$failures" -eq 0 ]
