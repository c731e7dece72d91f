#!/bin/sh
# Runs that are interrupted, and go on: by signals, by kill -9, by a full disk, on other ranks, devices
# and degrees.
#
#     restart.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
#
# EAGRE_TEST_LONG=1 kills 200 runs instead of 25.
set -u
eagre=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-restart-XXXXXX") || exit 1
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
: >err

complain()
{
    echo "restart.sh: $*" >&2
    sed 's/^/    /' err >&2
    failures=$((failures + 1))
}

# code N COMMAND...: the command must end with exit code N.
code()
{
    expected=$1
    shift
    "$@" >out 2>err
    got=$?
    [ "$got" -eq "$expected" ] || complain "$*: exit code $got, not $expected"
}

says() { grep -qF -- "$1" err || complain "standard error lacks \"$1\""; }

# ends PROCESS: waits for its end, a minute at most.
ends()
{
    tries=0
    while kill -0 "$1" 2>/dev/null && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -9 "$1" 2>/dev/null
    wait "$1"
}

# near DIRECTORY DIRECTORY BOUND: both series have the same rows, values to so much.
near()
{
    paste -d' ' "$1/series.csv" "$2/series.csv" | awk -F'[ ,]' -v bound="$3" '
        NR > 1 && NF % 2 == 1 { exit 1 }
        NR > 1 { n = NF / 2
                 for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d
                                            if (!(d <= bound)) exit 1 } }' ||
        complain "the rows of $1 and $2 differ by more than $3"
    [ "$(wc -l <"$1/series.csv")" = "$(wc -l <"$2/series.csv")" ] ||
        complain "$1 and $2 have not the same number of rows"
}

cat >wave.toml <<'END'
model = "advection"
[mesh]
shape = "quadrilateral"
cells = [6, 5]
periodic = ["x", "y"]
[space]
degree = 4
[time]
end = 0.2
cfl = 0.3
[advection]
velocity = ["1", "0.5"]
[initial]
u = "sin(2*pi*x)*sin(2*pi*y)"
v = "exp(sin(2*pi*x))"
[output.checkpoint]
steps = 7
keep = 4
[output.series]
steps = 1
[output.integral.energy]
of = "u^2 + v^2"
[output.probe.a]
at = [0.31, 0.42]
[output.probe.b]
at = [0.77, 0.13]
END

cpu="--device cpu:1"

# --- a run that goes on is the run that was not interrupted --------------------------------------

code 0 "$eagre" run wave.toml $cpu output.directory=whole
early=$(ls whole/checkpoints | head -n 1)
[ "$(ls whole/checkpoints | wc -l)" -eq 4 ] || complain "four checkpoints are to be kept"
cp -r whole again
code 0 "$eagre" run --restart "again/checkpoints/$early" $cpu output.directory=again
cmp -s whole/series.csv again/series.csv || complain "a run that went on is another, or its series"

# Cut off in mid-row, as a crash leaves it.
cp -r whole torn
printf '%s' '99999,0.1,0.0' >>torn/series.csv
code 0 "$eagre" run --restart "torn/checkpoints/$early" $cpu output.directory=torn
cmp -s whole/series.csv torn/series.csv || complain "half a row was not cut off"

# A longer run, and one whose end is behind it.
code 0 "$eagre" run --restart again $cpu output.directory=again time.end=0.25
tail -n 1 again/series.csv | grep -q ',0.25,' || complain "the run did not go on to 0.25"
code 2 "$eagre" run --restart again $cpu output.directory=again time.end=0.1
says "is behind its end"
code 2 "$eagre" run --restart again $cpu output.directory=again 'mesh.cells=[5,6]'
says "another mesh"
code 2 "$eagre" run --restart nowhere $cpu
says nowhere

# Tracers are found by their names: in another order, less of them; the integral of v is not that of u.
awk '/^u = / { u = $0; next } { print } /^v = / { print u }' wave.toml >swapped.toml
grep -v '^u = ' wave.toml >fewer.toml
for case in swapped fewer; do
    code 0 "$eagre" run $case.toml --restart "whole/checkpoints/$early" $cpu output.directory=$case \
        output.integral.energy.of=v
    tail -n 1 $case/series.csv | awk -F, '{ d = $4 - 1.2660658777520084; exit !(d * d < 1e-12) }' ||
        complain "$case: the checkpoint's v is not the run's: $(tail -n 1 $case/series.csv)"
done
sed 's/^v = /vv = /; s/v^2/vv^2/' wave.toml >other.toml
code 2 "$eagre" run other.toml --restart "whole/checkpoints/$early" $cpu output.directory=other
says 'has no "vv", only "u", "v"'
says 'did you mean "v"?'

# With the case named, too; new runs leave earlier results alone.
code 0 "$eagre" run wave.toml --restart again $cpu output.directory=again time.end=0.26
code 0 "$eagre" run wave.toml $cpu output.directory=again
says "again.1"
[ -e again.1/series.csv ] && cmp -s again/series.csv whole/series.csv ||
    complain "earlier results were not moved aside"

# A run goes on where its checkpoint is, whatever the case calls the directory; what another run has left
# elsewhere is not touched, nor is anything that is not ours.
code 0 "$eagre" run wave.toml $cpu output.directory=first time.end=0.05
mv first renamed
code 0 "$eagre" run wave.toml $cpu output.directory=first
cp -r first kept
code 0 "$eagre" run --restart renamed $cpu time.end=0.06
diff -r first kept >/dev/null || complain "a run that went on elsewhere changed another's results"
tail -n 1 renamed/series.csv | grep -q ',0.06,' || complain "the run did not go on where it was"
code 0 "$eagre" run --restart renamed $cpu output.directory=kept/ time.end=0.07
says "are in"
[ -s kept.1/series.csv ] && [ "$(wc -l <kept/series.csv)" -gt 2 ] ||
    complain "another directory: its results are not aside, or none are new"
mkdir mine
echo thesis >mine/thesis.txt
mkdir mine/fields
for time in 0.01 0.02; do
    code 0 "$eagre" run wave.toml $cpu output.directory=mine time.end=$time
done
[ -s mine/thesis.txt ] && [ -d mine/fields ] && [ -s mine.1/series.csv ] ||
    complain "files that are not ours were moved"
(cd mine && for time in 0.01 0.02; do
    "$eagre" run ../wave.toml $cpu output.directory=. time.end=$time >../out 2>../err || exit 1
done) || complain "output.directory=. works once only"

# Of a run that was abandoned nothing is left: later checkpoints, files, the summary.
code 0 "$eagre" run wave.toml $cpu output.directory=branch output.fields.steps=7 \
    output.checkpoint.keep=1000 'output.probe.c.from=[0,0.5]' 'output.probe.c.to=[1,0.5]'
code 1 "$eagre" run --restart branch/checkpoints/00000014 $cpu time.max_steps=15
[ "$(ls branch/checkpoints | tail -n 1)" = 00000014 ] || complain "later checkpoints were left"
[ "$(ls branch/fields | tail -n 1)" = 00000014.vtu ] || complain "later fields were left"
[ "$(ls branch/lines | tail -n 1)" = c-00000015.csv ] || complain "later lines were left"
[ "$(grep -c DataSet branch/fields.pvd)" -eq 3 ] || complain "later times are in fields.pvd"
[ ! -e branch/summary.json ] || complain "the summary of another run was left"

# At its end a run can still be asked for more.
code 0 "$eagre" run wave.toml $cpu output.directory=ended time.end=0.02
code 0 "$eagre" run --restart ended $cpu output.fields.end=true
[ "$(ls ended/fields | wc -l)" -eq 1 ] || complain "no fields at the end that it went on from"
code 0 "$eagre" run --restart ended $cpu time.max_steps=6 >/dev/null

# Two runs do not share a directory.
"$eagre" run wave.toml $cpu output.directory=shared time.end=1e6 >/dev/null 2>&1 &
run=$!
tries=0
while [ ! -s shared/series.csv ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
code 2 "$eagre" run wave.toml $cpu output.directory=shared
says "another run is writing to shared"
kill -9 $run
wait $run 2>/dev/null
code 0 "$eagre" run wave.toml $cpu output.directory=shared time.end=0.01

# A stop file is for runs that write there.
mkdir wave.out
touch wave.out/stop
code 0 "$eagre" converge wave.toml --cells 6x5,12x10 $cpu time.end=0.3 exact.u=0 exact.v=0
[ -e wave.out/stop ] || complain "converge took a stop file"
rm -r wave.out

# --- adaptation and the limiter go on bit for bit, too --------------------------------------------

for more in 'adapt.enabled=true' 'limiter.bounds=initial time.scheme=ssp-rk3 time.cfl=0.1'; do
    rm -rf one two
    # shellcheck disable=SC2086 # several words
    code 0 "$eagre" run wave.toml $cpu output.directory=one output.checkpoint.keep=1000 $more
    cp -r one two
    middle=$(ls one/checkpoints | sed -n 3p)
    # shellcheck disable=SC2086
    code 0 "$eagre" run --restart "two/checkpoints/$middle" $cpu output.directory=two
    cmp -s one/series.csv two/series.csv || complain "$more: a run that went on is another"
    for run in one two; do
        cat $run/checkpoints/"$(ls one/checkpoints | tail -n 1)"/*.h5 | cksum
    done | uniq | wc -l | grep -qx 1 || complain "$more: the last checkpoints differ"
done

# --- other degrees, other devices ------------------------------------------------------------------

# Up is exact: the values at once are the same, and down again, too.
rm -rf up
"$eagre" run wave.toml $cpu output.directory=up time.end=0.05 >out 2>err || complain "up"
value=$(tail -n 1 up/series.csv | cut -d, -f4-)
at=$(tail -n 1 up/series.csv | cut -d, -f1)
for degree in 6 4; do
    code 0 "$eagre" run --restart up $cpu output.directory=up space.degree=$degree time.end=0.05001
    tail -n 1 up/series.csv | cut -d, -f4- >now
    echo "$value" | paste -d, - now | awk -F, '
        { n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d
                                                 if (!(d < 2e-3)) exit 1 } }' ||
        complain "degree $degree: the values have changed"
    [ "$(tail -n 1 up/series.csv | cut -d, -f1)" -ge "$at" ] || complain "degree $degree: steps"
done

for device in $("$eagre" devices | awk 'NR > 1 { print $1 }'); do
    rm -rf elsewhere
    cp -r whole elsewhere
    code 0 "$eagre" run --restart "elsewhere/checkpoints/$early" --device "$device" \
        output.directory=elsewhere
    near whole elsewhere 1e-12
done

# --- ranks ------------------------------------------------------------------------------------------

if [ -n "${EAGRE_TEST_MPIEXEC:-}" ]; then
    mpirun="env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC --oversubscribe"
    code 0 $mpirun -n 3 "$eagre" run wave.toml $cpu output.directory=three
    near whole three 1e-12
    for ranks in 1 2 3 4; do
        rm -rf other
        cp -r three other
        code 0 $mpirun -n $ranks "$eagre" run --restart "other/checkpoints/$early" $cpu \
            output.directory=other
        near three other 1e-12
        [ $ranks -ne 3 ] || cmp -s three/series.csv other/series.csv ||
            complain "the same ranks do not give the same bits"
    done

    # Signals: to one rank, and to mpirun itself, which passes SIGTERM on before it ends all.
    for whom in rank mpirun; do
        rm -rf stopped
        rm -f pids
        # shellcheck disable=SC2016 # the shell that mpirun starts expands it
        $mpirun --mca odls_base_sigkill_timeout 6 -n 2 sh -c 'echo $$ >>pids; exec "$@"' sh "$eagre" run wave.toml $cpu \
            output.directory=stopped time.end=1e6 output.series.steps=1000 \
            output.checkpoint.steps=100000 >out 2>err &
        launcher=$!
        tries=0
        while [ ! -s stopped/series.csv ] && [ $tries -lt 300 ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        sleep 0.5
        if [ $whom = rank ]; then
            kill -TERM "$(head -n 1 pids)"
            ends $launcher
            got=$?
            [ $got -eq 0 ] || complain "SIGTERM to a rank: exit code $got"
            grep -q 'stopped by SIGTERM' out || complain "SIGTERM to a rank: no message"
        else
            kill -TERM $launcher
            ends $launcher
        fi
        [ -n "$(ls stopped/checkpoints/*/manifest.toml 2>/dev/null)" ] ||
            complain "SIGTERM to $whom: no checkpoint"
        code 0 "$eagre" info stopped
    done
fi

# --- being told to stop ------------------------------------------------------------------------------

# begin DIRECTORY: a run that goes on for hours, in the background; waits until it steps.
begin()
{
    rm -rf "$1"
    "$eagre" run wave.toml $cpu output.directory="$1" time.end=1e6 output.series.steps=100 \
        output.checkpoint.steps=100000000 >out 2>err &
    run=$!
    tries=0
    while [ ! -s "$1/series.csv" ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    sleep 0.2
}

for how in TERM INT stop; do
    # A shell without job control starts background commands with SIGINT ignored; ours listens anyway.
    begin told
    if [ $how = stop ]; then touch told/stop; else kill -s $how $run; fi
    ends $run
    got=$?
    [ $got -eq 0 ] || complain "$how: exit code $got"
    grep -q 'stopped by' out || complain "$how: no message"
    grep -q 'eagre run --restart told/checkpoints/' out || complain "$how: not told how to go on"
    [ ! -e told/stop ] || complain "the file stop is still there"
    end=$(tail -n 1 told/series.csv | cut -d, -f2)
    code 0 "$eagre" run --restart told $cpu output.directory=told \
        time.end="$(awk "BEGIN { print $end + 0.5 }")"
done

# What series.csv has come to is read from it at the end. If it cannot be, the run has ended well all the same: it warns, and
# tells the rest.
for line in '' oops; do
    begin unread
    [ -z "$line" ] || echo $line >>unread/series.csv
    touch unread/stop
    ends $run || complain "the run fails over \"$line\" in series.csv"
    grep -q '"model"' unread/summary.json || complain "\"$line\" in series.csv: no summary"
    if [ -z "$line" ]; then
        grep -q '"series"' unread/summary.json || complain "the summary does not tell of series.csv"
    else
        says "warning: what columns and signals have come to is not told: "
        says unread/series.csv
        grep -q '"series"' unread/summary.json && complain "the summary tells of a series that it cannot read"
    fi
done

# --- kill -9 ----------------------------------------------------------------------------------------

kills=25
[ -z "${EAGRE_TEST_LONG:-}" ] || kills=200
rm -rf killed
"$eagre" run wave.toml $cpu output.directory=killed time.end=0.001 output.checkpoint.steps=1 \
    output.checkpoint.keep=2 >out 2>err || complain "the run before kills"
number=0
while [ $number -lt $kills ]; do
    number=$((number + 1))
    "$eagre" run --restart killed $cpu output.directory=killed time.end=1e6 >out 2>err &
    run=$!
    # From before the first step to well into them.
    sleep "0.$(awk -v seed="$number" 'BEGIN { srand(seed); printf "%03d", 20 + rand() * 250 }')"
    kill -9 $run 2>/dev/null || complain "kill $number: the run had ended"
    wait $run 2>/dev/null
    code 0 "$eagre" info killed
    [ $failures -eq 0 ] || break
done
code 0 "$eagre" run --restart killed $cpu output.directory=killed time.max_steps=1000000000 \
    time.end="$(awk -F, 'END { print $2 + 0.1 }' killed/series.csv)"

# --- disks ------------------------------------------------------------------------------------------

# intact DIRECTORY: what was written before is still good.
intact()
{
    [ -n "$(ls "$1"/checkpoints/*/manifest.toml 2>/dev/null)" ] || complain "$1: no checkpoint left"
    code 0 "$eagre" info "$1"
}

mkdir disk
if mount -t tmpfs -o size=20m tmpfs disk 2>/dev/null; then
    mounted=$work/disk
    head -c 20600000 /dev/zero >disk/filler
    code 1 "$eagre" run wave.toml $cpu output.directory=disk/full output.checkpoint.steps=1 \
        output.checkpoint.keep=1000
    says "disk/full"
    says "No space left on device"
    intact disk/full
    [ -z "$(find disk/full -name '*.tmp*' -o -name '*XXXXXX*')" ] || complain "temporary files stay"
    rm disk/filler
    "$eagre" run wave.toml $cpu output.directory=disk/later time.end=0.05 >out 2>err ||
        complain "a disk with room"
    mount -o remount,ro disk
    code 1 "$eagre" run --restart disk/later $cpu output.directory=disk/later
    says "Read-only file system"
    intact disk/later
    umount disk && mounted=
fi

# A directory that vanishes in mid-run.
"$eagre" run wave.toml $cpu output.directory=gone time.end=1e6 >out 2>err &
run=$!
tries=0
while [ ! -d gone/checkpoints ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
mv gone went
wait $run
got=$?
[ $got -eq 1 ] || complain "a directory removed in mid-run: exit code $got"
says gone/
says "No such file or directory"

# --- solutions that are lost ------------------------------------------------------------------------

code 1 "$eagre" run wave.toml $cpu output.directory=lost time.cfl=3 time.end=5
says "in element"
says " at ("
says "time.cfl = 3 may be too large"
says "The last good checkpoint is lost/checkpoints/"
code 0 "$eagre" info lost
code 1 "$eagre" run wave.toml $cpu output.directory=lost2 initial.u='1/(x-0.5)^0*sqrt(x-0.5)'
says "not a number"
! find lost2 -name '*.vtu' -o -name '*.h5' 2>/dev/null | grep -q . ||
    complain "something lost was written"

[ $failures -eq 0 ] || exit 1
