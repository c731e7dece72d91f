#!/bin/sh
# Every command in README.md, CONTRIBUTING.md, the tutorials and the how-tos works: those that are cheap are run,
# of the others it is checked that what they name is there. A command that no rule covers is a failure.
#
#     readme.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -eu

# The make that may run this test is not the make that is tested.
unset MAKEFLAGS MAKELEVEL MFLAGS

eagre=$1
source=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
build=${3:-$(dirname "$1")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A copy of the tree as the reader sees it after `make demo`.
ln -s "$source"/* "$work/"
rm -f "$work/build"
mkdir -p "$work/build/release"
ln -s "$eagre" "$work/build/release/eagre"
cd "$work"

# The program in the README, built against an installation.
cmake --install "$build" --prefix "$work/prefix" >install.log || {
    cat install.log
    exit 1
}
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >example.c
libdir=$(dirname "$(find prefix -name libeagre.so.0)")
sanitize=$(sed -n 's/^EAGRE_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
export PKG_CONFIG_PATH="$work/$libdir/pkgconfig"
export LD_LIBRARY_PATH="$work/$libdir"

failures=0
complain()
{
    echo "readme.sh: $1: $command" >&2
    failures=$((failures + 1))
}

run()
{
    sh -c "$1" >output 2>&1 || {
        cat output >&2
        complain "failed"
    }
}

# Of what takes minutes the first steps are run; files are where those that follow look for them.
run_steps()
{
    case $1 in
    'build/release/eagre run cases/ins-square-cylinder.toml'*) run "$1 time.end=0.2" ;;
    *) run "$1" ;;
    esac
}

# What `make demo` does behind building.
run_demo()
{
    run "make -n demo"
    sed -e ':again' -e '/\\$/{N;s/\\\n//;b again' -e '}' output | grep '^build/release/eagre [rp]' >demo
    mkdir -p build/demo
    while IFS= read -r step; do
        run_steps "$step"
    done <demo
}

awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on && NF' README.md CONTRIBUTING.md docs/tutorials/*.md \
    docs/how-to/*.md >commands
[ -s commands ] || {
    echo "readme.sh: there are no commands to check" >&2
    exit 1
}
while IFS= read -r command; do
    echo "$command"
    case $command in
    'make demo') run_demo ;;
    'make '*) run "make -n ${command#make }" ;;
    'cmake --preset '*)
        (cd "$source" && cmake --list-presets) | grep -qF "\"${command#cmake --preset }\"" ||
            complain "there is no such preset"
        ;;
    'cmake --build build/'* | 'ctest --test-dir build/'*)
        preset=${command#* build/}
        grep -qF "\${sourceDir}/build/${preset%% *}\"" CMakePresets.json ||
            complain "no preset builds there"
        case $command in
        *' -L '* | *' -R '*)
            # shellcheck disable=SC2001 # a pattern with a group
            filter=$(echo "$command" | sed 's/.* \(-[LR] [^ ]*\).*/\1/')
            # shellcheck disable=SC2086 # an option and its value
            ctest --test-dir "$build" -N $filter | grep -q 'Total Tests: [1-9]' ||
                complain "no test matches"
            ;;
        esac
        ;;
    'cc '*) run "$command ${sanitize:+-fsanitize=$sanitize}" ;;
    'mpirun '*)
        if command -v mpirun >/dev/null && [ -z "$sanitize" ]; then
            run "mpirun --oversubscribe ${command#mpirun }"
        fi
        ;;
    'gmsh '*) ! command -v gmsh >/dev/null || run "$command" ;;
    'build/release/eagre '*) run_steps "$command" ;;
    ./example | EAGRE_[A-Z]*=*' build/release/eagre '*) run "$command" ;;
    *) complain "no rule says how to check it" ;;
    esac
done <commands

[ "$failures" -eq 0 ]
