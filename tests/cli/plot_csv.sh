#!/bin/sh
# `eagre plot` with CSV files: which columns are drawn, over what, where the picture goes, and what is
# wrong. What charts look like is tested by test_chart and test_chart_columns.
#
#     plot_csv.sh COMMAND
set -u
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-plot-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# draws WORD...: the command works and names the file it wrote, $picture.
draws() {
    if ! picture=$("$eagre" plot "$@" 2>"$work/err"); then
        fail "eagre plot $*: $(cat "$work/err")"
    elif [ ! -s "$picture" ]; then
        fail "eagre plot $* names \"$picture\" and writes nothing there"
    fi
}

# has COUNT TEXT: the text stands in the picture so often, on lines of their own.
has() {
    count=$(grep -cF -e "$2" "$picture")
    [ "$count" -eq "$1" ] || fail "$picture has \"$2\" $count times and not $1"
}

# refuses MESSAGE WORD...: exit code 2, a message that has these words, and no picture.
refuses() {
    message=$1
    shift
    "$eagre" plot "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "eagre plot $* does not end with exit code 2"
    grep -qF -e "$message" "$work/err" ||
        fail "eagre plot $* does not say \"$message\": $(cat "$work/err")"
    [ ! -e "$work/none.svg" ] || fail "eagre plot $* leaves a picture"
}

series=$work/run.csv
awk 'BEGIN {
    print "step,time [s],mass [kg],energy [J],u [m/s],v [m/s],note"
    for (i = 0; i <= 100; i++) {
        t = i / 10
        printf "%d,%.1f,%.3f,%g,%g,%g,start\n", i, t, 2 + 0.1 * t, 1e5 * exp(-t), sin(t), cos(t)
    }
}' >"$series"

# All columns but the steps, in plots by units, beside the file; columns of texts are left out.
draws "$series"
[ "$picture" = "$work/run.svg" ] || fail "the picture is $picture"
has 3 ' frame"'
for text in 'time [s]' 'mass [kg]' 'energy [J]' '[m/s]' u v run.csv; do
    has 1 ">$text</text>"
done
has 0 '>step</text>'
has 0 '>note</text>'

# What was asked for.
draws "$series" --x mass --y energy,v --log y --title 'A & B' --output "$work/named.svg"
has 1 ' frame"'
has 1 '>mass [kg]</text>'
has 1 '>energy [J]</text>'
has 1 '>v [m/s]</text>'
has 1 '>A &amp; B</text>'
has 0 '>u</text>'
has 1 '>10<tspan font-size="100" dy="-49">5</tspan></text>'

# The first column with numbers where there is no time; names with commas; slopes of powers.
printf 'name,h,"L2, all",L2\na,1,1,1\nb,0.5,0.125,0.25\nc,0.25,0.015625,0.0625\n' >"$work/orders.csv"
draws "$work/orders.csv" --y 'L2, all,L2' --log xy
has 1 '>h</text>'
has 1 '>L2, all</text>'
has 1 '>slope 3.00</text>'
has 1 '>slope 2.00</text>'

# PNG, of the width that is asked for, and JSON.
if "$eagre" plot "$series" --output "$work/a.png" --json >"$work/out" 2>"$work/err"; then
    grep -qF "\"file\": \"$work/a.png\"" "$work/out" || fail "JSON: $(cat "$work/out")"
    draws "$series" --output "$work/b.png" --width 700 --dark
    # Bytes 17 to 20 of a PNG file.
    width=$(od -An -tu1 -j16 -N4 "$work/b.png" | awk '{ print 256 * $3 + $4 }')
    [ "$width" -eq 700 ] || fail "the PNG is $width pixels wide"
elif ! grep -q 'without libpng' "$work/err"; then
    fail "PNG: $(cat "$work/err")"
fi

# A large file becomes a small one, with its one peak at the top of the plot.
awk 'BEGIN {
    print "time,u"
    for (i = 0; i < 100000; i++) printf "%d,%g\n", i, i == 54321 ? 100 : sin(i)
}' >"$work/large.csv"
draws "$work/large.csv"
bytes=$(wc -c <"$picture")
[ "$bytes" -lt 40000 ] || fail "100000 rows become $bytes bytes"
has 1 '>100</text>'

# What is wrong.
refuses 'did you mean "mass"?' "$series" --y mas --output "$work/none.svg"
refuses 'Its columns are step, time, mass' "$series" --x pressure --output "$work/none.svg"
refuses 'twice' "$series" --y u,v,u --output "$work/none.svg"
refuses 'has no numbers' "$series" --y note --output "$work/none.svg"
refuses 'has no column ""' "$series" --y u, --output "$work/none.svg"
refuses 'x, y or xy, not "z"' "$series" --log z --output "$work/none.svg"
refuses '.svg or .png' "$series" --output "$work/none.pdf"
refuses 'no/such' "$series" --output "$work/no/such/none.svg"
refuses '--dark goes with' "$series" --dark --output "$work/none.svg"
refuses '--width takes' "$series" --width 3 --output "$work/none.svg"
refuses '--field is no option of charts' "$series" --field u --output "$work/none.svg"
printf 'a,b\n1,-1\n2,0\n' >"$work/negative.csv"
refuses 'which --log y needs' "$work/negative.csv" --log y --y b --output "$work/none.svg"
refuses 'positive numbers' "$work/negative.csv" --log y --output "$work/none.svg"
awk 'BEGIN { for (r = 0; r < 3; r++) for (i = 0; i < 70; i++) printf "%s%d%s", r ? "" : "c", i, i < 69 ? "," : "\n" }' \
    >"$work/wide.csv"
refuses '69 columns' "$work/wide.csv" --output "$work/none.svg"
printf 'a,b\n' >"$work/empty.csv"
refuses 'no rows' "$work/empty.csv" --output "$work/none.svg"
printf 'a,b\n1,2\n3\n' >"$work/short.csv"
refuses 'line 3' "$work/short.csv" --output "$work/none.svg"

[ "$failures" -eq 0 ] || exit 1
