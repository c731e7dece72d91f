#!/bin/sh
# What runs of model ins measure: columns that it knows by name, forces, signals, in series.csv and in the summary, on any
# number of ranks and across a restart; `eagre signal`; and what is said of wrong wishes.
#
#     flow.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/model.sh"

# Half a channel, u = y (2 - y), p = 0.2 (2 - x), which degree 2 holds: the friction at the bottom, 2 long, is 0.1 u_y = 0.2
# per length; the pressure pushes the bottom down and the left end against the flow.
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
end = 0.3
[solver]
tolerance = 1e-12
[initial]
u = "y*(2 - y)"
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
[output.series]
steps = 2
columns = ["energy", "dissipation"]
[output.force.floor]
over = ["bottom"]
about = [0.0, 0.0]
speed = 2.0
length = 0.5
[output.force.up]
over = ["bottom", "left"]
direction = [0, 3]
END

# column NAME FILE: the values of a column.
column()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
                          at { print $at }' "$2"
}

# constant NAME VALUE: so it is in every row, and in the summary.
constant()
{
    [ "$(column "$1" "$results/series.csv" | wc -l)" -eq 4 ] || complain "$1: not four rows"
    for at in $(column "$1" "$results/series.csv"); do
        near "$at" "$2" 1e-8
    done
    told=$(sed -n "s/.*\"$1\": {\"last\": \([-+0-9.e]*\), \"least\": \([-+0-9.e]*\), \"most\": .*/\1/p" out)
    [ "$told" = "$(column "$1" "$results/series.csv" | tail -n 1)" ] || complain "$1: the summary tells $told"
}

# --- columns and forces, on any number of ranks ---------------------------------------------------------
for ranks in 1 2 3; do
    results=channel-$ranks
    if [ $ranks -eq 1 ]; then
        json channel.toml output.directory=$results
    elif [ -n "$mpiexec" ]; then
        $mpiexec --oversubscribe -n $ranks "$eagre" run channel.toml --json --device cpu:1 \
            output.directory=$results >out 2>err || complain "it fails on $ranks ranks"
    else
        continue
    fi
    constant floor.drag 0.4
    constant floor.lift -0.4
    constant floor.moment -0.2666666666666667
    constant floor.cd 0.4
    constant floor.cm -0.5333333333333333
    constant up.drag -0.3
    below "$(column up.lift $results/series.csv | awk "{ print \$1 < 0 ? -\$1 : \$1 }" | sort -g | tail -n 1)" 1e-8
    constant energy 0.5333333333333333
    constant dissipation 0.2666666666666667
done
"$eagre" run channel.toml --device cpu:1 output.directory=text >out 2>err || complain "it does not run"
grep -q "^floor.drag  *0.4  *0.4  *0.4" out || complain "the summary has no table of the series"

# --- a signal, across a restart ---------------------------------------------------------------------------
# What drives it shakes with frequency 5, and so does the energy.
sed '/^\[boundary.left/,/^\[boundary.bottom/{/^\[boundary.bottom/!d}; /^over = \["bottom", "left"\]/s/, "left"//' \
    channel.toml >loop.toml
shaken="loop.toml mesh.periodic=x ins.force_x=0.2+0.5*sin(10*pi*t) initial.p=0 time.dt=0.005 time.end=1.2
    output.series.steps=1 output.signal.shake.of=energy output.signal.shake.from=0.1 output.signal.shake.speed=2
    output.signal.shake.length=0.5"
# shellcheck disable=SC2086 # of several words
json $shaken output.directory=shaken output.checkpoint.steps=100
near "$(value frequency)" 5 1e-2
near "$(value strouhal)" 1.25 1e-2
near "$(value periods)" 4 0
mv out whole
"$eagre" run --restart shaken/checkpoints/00000200 --json --device cpu:1 output.directory=again >out 2>err ||
    complain "it does not go on"
[ "$(wc -l <again/series.csv)" -lt "$(wc -l <shaken/series.csv)" ] || complain "a restart elsewhere has all rows"
cp -r shaken there
cp shaken/series.csv before.csv
"$eagre" run --restart there/checkpoints/00000200 --json --device cpu:1 >out 2>err || complain "it does not go on in place"
cmp -s before.csv there/series.csv || complain "series.csv of a restart differs"
for part in series signal; do
    sed -n "s/.*\(\"$part\": {.*\)/\1/p" whole | sed 's/"kernels_compiled".*//' >one
    sed -n "s/.*\(\"$part\": {.*\)/\1/p" out | sed 's/"kernels_compiled".*//' >two
    { [ -s one ] && cmp -s one two; } || complain "$part of a restart differs"
done

# --- averages over time --------------------------------------------------------------------------------------
# A flow that is the same everywhere, driven back and forth: means and covariances are those of the rows of series.csv, by
# the trapezoidal rule, from the first state at or behind 0.23 on.
cat >sway.toml <<'END'
model = "ins"
[mesh]
shape = "triangle"
periodic = ["x", "y"]
cells = [2, 2]
[space]
degree = 2
[ins]
viscosity = 0.1
force_x = "cos(7*t)"
force_y = "sin(5*t)"
[time]
dt = 0.02
end = 1.0
[solver]
tolerance = 1e-13
[initial]
u = 0.3
[output.series]
steps = 1
[output.fields]
end = true
[output.checkpoint]
steps = 10
keep = 9
[output.average]
from = 0.23
covariances = ["u", "v"]
[output.probe.a]
at = [0.3, 0.4]
END
for ranks in 1 2; do
    results=sway-$ranks
    if [ $ranks -eq 1 ]; then
        json sway.toml output.directory=$results
        near "$(sed -n 's/.*"average": {"begin": \([0-9.e-]*\), "end": .*/\1/p' out)" 0.24 1e-12
    elif [ -n "$mpiexec" ]; then
        $mpiexec --oversubscribe -n $ranks "$eagre" run sway.toml --json --device cpu:1 \
            output.directory=$results >out 2>err || complain "averages fail on $ranks ranks"
    else
        continue
    fi
    for name in time u v mean_u mean_v mean_p mean_vorticity cov_u_u cov_u_v cov_v_v; do
        [ $name = time ] && title=time || title=a.$name
        column $title $results/series.csv >$name
        [ -s $name ] || complain "there is no column $title"
    done
    paste time u v mean_u mean_v cov_u_u cov_u_v cov_v_v | awk '
        function off(a, b) { return a - b > 1e-13 || b - a > 1e-13 }
        { t[NR] = $1; u[NR] = $2; v[NR] = $3 }
        $1 < 0.229 { if (off($2, $4) || off($3, $5) || off($6, 0)) { print "before", $0; exit 1 } next }
        !first { first = NR }
        {
            for (k = first; k <= NR; k++)
                w[k] = (k > first ? t[k] - t[k-1] : 0) / 2 + (k < NR ? t[k+1] - t[k] : 0) / 2
            if (NR == first) w[first] = 1
            all = mu = mv = uu = uv = vv = 0
            for (k = first; k <= NR; k++) { all += w[k]; mu += w[k] * u[k]; mv += w[k] * v[k] }
            mu /= all; mv /= all
            for (k = first; k <= NR; k++) {
                uu += w[k] * (u[k] - mu) ^ 2; vv += w[k] * (v[k] - mv) ^ 2
                uv += w[k] * (u[k] - mu) * (v[k] - mv)
            }
            if (off($4, mu) || off($5, mv) || off($6, uu / all) || off($7, uv / all) || off($8, vv / all)) {
                print "behind", $0, mu, mv, uu / all, uv / all, vv / all; exit 1
            }
            rows++
        }
        END { if (rows != 39) { print rows, "rows"; exit 1 } }' >err || complain "averages on $ranks ranks"
done
# A run that goes on before, at and behind the beginning of averages ends the same, bit for bit.
for step in 10 20 40; do
    "$eagre" run --restart sway-1/checkpoints/000000$step --json --device cpu:1 output.directory=again >out 2>err ||
        complain "it does not go on from step $step"
    cmp -s sway-1/fields/00000050.vtu again/fields/00000050.vtu || complain "averages differ if it goes on from step $step"
    tail -n 1 sway-1/series.csv >one
    tail -n 1 again/series.csv | cmp -s - one || complain "the last row differs if it goes on from step $step"
    rm -rf again
done
"$eagre" info sway-1/fields/00000050.vtu >out 2>err || complain "no fields"
grep -q cov_u_v out || complain "fields have no averages"
# Averages are used as fields are: in integrals, with derivatives, in probes and quantities; and their columns in signals.
json sway.toml output.directory=used output.fields.end=true output.integral.all.of="mean_u + 1e3*mean_v_x^2" \
    'output.probe.a.of=["mean_u", "cov_u_v - mean_u*mean_v"]' output.quantities.energy="(cov_u_u + cov_v_v)/2" \
    output.signal.of_all.of=all output.signal.of_a.of=a.mean_u
near "$(column all used/series.csv | tail -n 1)" "$(column a.mean_u sway-1/series.csv | tail -n 1)" 1e-12
near "$(column a.mean_u used/series.csv | tail -n 1)" "$(column a.mean_u sway-1/series.csv | tail -n 1)" 1e-12
near "$(column "a.cov_u_v - mean_u*mean_v" used/series.csv | tail -n 1)" "$(for name in cov_u_v mean_u mean_v; do
    column a.$name sway-1/series.csv | tail -n 1
done | xargs | awk '{ printf "%.17g", $1 - $2 * $3 }')" 1e-12
near "$(sed -n 's/.*"of_all": {"mean": \([-+0-9.e]*\).*/\1/p' out)" \
    "$(sed -n 's/.*"of_a": {"mean": \([-+0-9.e]*\).*/\1/p' out)" 1e-12
"$eagre" info used/fields/00000050.vtu >out 2>err || complain "no fields"
grep -q energy out || complain "a quantity of averages is not written"
# A later beginning starts anew; a restart may ask for averages where there were none.
"$eagre" run --restart sway-1/checkpoints/00000040 --json --device cpu:1 output.directory=again output.average.from=0.9 \
    >out 2>err || complain "it does not average anew"
near "$(sed -n 's/.*"average": {"begin": \([0-9.e-]*\), "end": .*/\1/p' out)" 0.9 1e-12
rm -rf again
sed '/^\[output.average/,/^covariances/d' sway.toml >plain.toml
json plain.toml output.directory=plain
"$eagre" run plain.toml --restart plain/checkpoints/00000040 --json --device cpu:1 output.directory=again \
    output.average.from=0.23 >out 2>err || complain "it does not begin to average"
near "$(sed -n 's/.*"average": {"begin": \([0-9.e-]*\), "end": .*/\1/p' out)" 0.8 1e-12
"$eagre" run --restart sway-1/checkpoints/00000040 --device cpu:1 output.directory=again 'output.average.of=["u", "p"]' \
    'output.average.covariances=["u", "p"]' >out 2>err && complain "it averages what the checkpoint does not have"
grep -q cov_u_p err || complain "nothing is said of cov_u_p"

# --- eagre signal -------------------------------------------------------------------------------------------
"$eagre" signal shaken/series.csv energy --from 0.1 --length 0.5 --speed 2 --json >out 2>err || complain "signal fails"
of_run=$(sed -n 's/.*"signal": {"shake": {\([^}]*\)}.*/\1/p' whole)
of_file=$(sed -n 's/.*"energy": {\([^}]*\)}.*/\1/p' out)
[ "$of_run" = "$of_file" ] || complain "signal and run tell different things: $of_file, $of_run"
"$eagre" signal shaken/series.csv >out 2>err || complain "signal of all columns fails"
[ "$(wc -l <out)" -eq 14 ] || complain "not all columns: $(wc -l <out)"
grep -q "^energy " out || complain "the energy is missing"
grep -q "^step \|^time \|^dt " out && complain "a time is no signal"
printf 'when,what\n0,1\n1,2\n' >two.csv
"$eagre" signal two.csv --x when >out 2>err || complain "another column of times"

# refused TEXT ARGUMENTS...: eagre signal ends with exit code 2 and says so.
refused()
{
    expected=$1
    shift
    "$eagre" signal "$@" >out 2>err
    [ $? -eq 2 ] || complain "eagre signal $*: exit code is not 2"
    grep -qF -- "$expected" err || complain "eagre signal $*: standard error lacks \"$expected\""
}
refused "of what?"
refused 'no column "enrgy"; did you mean "energy"?' shaken/series.csv enrgy
refused 'no column "time"' two.csv
refused 'the column "energy" is named twice' shaken/series.csv energy floor.drag energy --json
printf 'time,a [m],b,a [s]\n0,1,1,1\n1,2,2,2\n' >twins.csv
refused 'twins.csv has several columns "a"' twins.csv --json
"$eagre" signal twins.csv b >out 2>err || complain "the other column of twins.csv"
refused "both --length and --speed" shaken/series.csv energy --length 1
refused '--speed takes a number greater than 0, not "0"' shaken/series.csv energy --length 1 --speed 0
refused '--periods takes a number from 1' shaken/series.csv energy --periods 0
refused '--from takes a number, not "now"' shaken/series.csv energy --from now
printf 'time\n0\n1\n' >times.csv
refused "has no column beside its times" times.csv
"$eagre" signal no.csv >out 2>err
[ $? -eq 1 ] || complain "a file that is not there: exit code is not 1"

# --- wrong wishes -------------------------------------------------------------------------------------------
wrong 'no boundary or group of elements "botom"; did you mean "bottom"' channel.toml output.force.floor.over=botom
wrong "it must name boundaries" channel.toml output.force.floor.over=domain
wrong "it names nothing" channel.toml 'output.force.floor.over=[]'
wrong "that is no direction" channel.toml 'output.force.floor.direction=[0, 0]'
wrong "must have 2" channel.toml 'output.force.floor.direction=[0, 0, 1]'
wrong "need a speed and a length" channel.toml output.force.up.speed=1
wrong "give finite coordinates" channel.toml 'output.force.floor.about=[0, inf]'
wrong "a speed that is finite" channel.toml output.force.floor.speed=inf
wrong "a length that is finite" channel.toml output.force.floor.length=inf
wrong "forces over U^2 L/2 = inf: give speed and length in the units of the case" channel.toml output.force.floor.speed=1e160
wrong "forces over U^2 L/2 = 0:" channel.toml output.force.floor.speed=1e-170
wrong "moments over U^2 L^2/2 = inf:" channel.toml output.force.floor.length=1e200
sed '/^about/d; s/^length = .*/length = 1e300/; s/^speed = .*/speed = 1e9/' channel.toml >coefficients.toml
wrong "coefficients.toml:34:10: error: coefficients are forces over" coefficients.toml
wrong "over" channel.toml output.force.new.speed=1
wrong 'another column "floor.drag"' channel.toml 'output.integral."floor.drag".of=u'
wrong 'another column "energy"' channel.toml output.integral.energy.of=u
wrong 'another column "energy"' channel.toml 'output.series.columns=["energy", "energy"]'
wrong "energy" channel.toml output.series.columns=enrgy
wrong 'no column "floor.drg"; did you mean "floor.drag"?' channel.toml output.signal.a.of=floor.drg
wrong "needs a length and a speed" channel.toml output.signal.a.of=energy output.signal.a.speed=1
sed '/^\[output.series\]/,/^columns/d' channel.toml >never.toml
wrong "output.series.steps" never.toml
sed '/^steps = 2/d; /^\[output.force/,$d' channel.toml >never.toml
wrong "output.series.steps" never.toml
sed '/^columns/,$d; /^steps = 2/d' channel.toml >never.toml
wrong "output.series.steps" never.toml output.signal.a.of=time

# judged MESSAGE ARGUMENTS...: `eagre check` refuses the case, and says this and nothing else.
judged()
{
    expected=$1
    shift
    "$eagre" check "$@" >out 2>err
    [ $? -eq 2 ] || complain "eagre check $*: exit code is not 2"
    [ "$(sed -n 's/^.*: error: //p' err)" = "$expected" ] || complain "eagre check $*: it does not say \"$expected\""
}
# Averages are judged in a case that has nothing else of them, so that no other message is possible.
average="plain.toml output.average.from=0.1"
# shellcheck disable=SC2086 # of several words
{
    judged 'there is no field "nonsense"' $average output.average.of=nonsense
    judged 'there is no field "uu"; did you mean "u"?' $average output.average.covariances=uu
    judged 'it is there already' $average 'output.average.of=["u", "v", "u"]'
    judged 'it is there already' $average 'output.average.covariances=["u", "u"]'
    judged '"v" is not among those averaged' $average output.average.of=u output.average.covariances=v
    judged "there is no name 'mean_v'; did you mean 'mean_u'?" $average output.average.of=u output.probe.a.of=mean_v
    judged 'series.csv has another column "a.mean_u": give this one another name' $average \
        'output.integral."a.mean_u".of=u'
    judged 'series.csv has no column "a.mean_w"; did you mean "a.mean_u"?' $average output.signal.s.of=a.mean_w
    judged '"mean_u" is a field, which is written anyway' $average output.quantities.mean_u=u
}
judged "from when on? Give output.average.from" plain.toml output.average.of=u
wrong "adapt.enabled" "$source/cases/advection-adapt.toml" output.average.from=0.1
wrong "space.basis" "$source/cases/advection-bell.toml" output.average.from=0.1 output.average.covariances=u

[ "$failures" -eq 0 ]
