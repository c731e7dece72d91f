# shellcheck shell=sh disable=SC2034 # what is set here is used by scripts that read this
# What the scripts that run a model share; read by
#
#     . "$(dirname "$0")/lib/model.sh"
#
# with the script's own arguments, COMMAND [SOURCE-DIR [BUILD-DIR]]. They then stand in a directory of
# their own, in which `out` and `err` are what the last run has printed, and end with [ "$failures" -eq 0 ].
set -u
eagre=$1
source=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
script=$(basename "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/eagre-${script%.sh}-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
: >err

# MPI leaks from plug-ins that it unloads, so that no suppression can name them.
mpiexec=${EAGRE_TEST_MPIEXEC:+env ASAN_OPTIONS=detect_leaks=0 $EAGRE_TEST_MPIEXEC}

complain()
{
    echo "$script: $*" >&2
    sed 's/^/    /' err >&2
    failures=$((failures + 1))
}

# json ARGUMENTS...: runs a case into `out`.
json() { "$eagre" run "$@" --json --device cpu:1 >out 2>err || complain "eagre run $* fails"; }

# value NAME: the number behind the first "NAME" of `out`.
value() { sed -n "s/.*\"$1\": \([-+0-9.e]*\).*/\1/p" out | head -n 1; }

# of FIELD NORM: that norm of its error.
of() { sed -n "s/.*\"$1\": {[^}]*\"$2\": \([-+0-9.e]*\).*/\1/p" out; }

# near A B BOUND: they differ by so much, relative to the second.
near()
{
    awk -v a="$1" -v b="$2" -v bound="$3" 'BEGIN {
        d = a - b; if (d < 0) d = -d
        exit !(a != "" && b != "" && d <= bound * (b < 0 ? -b : b)) }' ||
        complain "$1 and $2 differ by more than $3"
}

# below A BOUND
below()
{
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }' || complain "$1 is more than $2"
}

# wrong TEXT ARGUMENTS...: the case is refused with exit code 2 and says so.
wrong()
{
    expected=$1
    shift
    "$eagre" run "$@" --device cpu:1 >out 2>err
    [ $? -eq 2 ] || complain "eagre run $*: exit code is not 2"
    grep -qF -- "$expected" err || complain "eagre run $*: standard error lacks \"$expected\""
}
