#!/bin/sh
# Everything that must hold: builds and tests the release, debug (sanitizers) and nompi presets,
# then checks format and lint. Goes on after a failure; the last line is the sum of all.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=$(nproc 2>/dev/null || echo 2)
# Some tests wait for processes of theirs: one more than there are processors.
tests=$((jobs + 1))
passed=0
failed=0
skipped=0

# attribute FILE NAME: the number in the first NAME="..." of a JUnit report.
attribute()
{
    sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

# preset NAME TARGETS CTEST-OPTIONS...: builds targets of a preset, separated by spaces, and runs tests.
preset()
{
    name=$1
    targets=$2
    shift 2
    report=build/$name/tests.xml
    echo "== $name"
    if ! cmake --preset "$name" -Wno-dev >build/configure.log 2>&1; then
        cat build/configure.log
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086 # of several words
    if ! cmake --build "build/$name" -j "$jobs" --target $targets; then
        failed=$((failed + 1))
        return
    fi
    rm -f "$report"
    ctest --test-dir "build/$name" -j "$tests" --output-on-failure --no-tests=error \
        --output-junit tests.xml "$@"
    status=$?
    if [ ! -s "$report" ]; then
        failed=$((failed + 1))
        return
    fi
    total=$(grep -c '<testcase ' "$report")
    bad=$(attribute "$report" failures)
    left_out=$(($(attribute "$report" skipped) + $(attribute "$report" disabled)))
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
    passed=$((passed + total - bad - left_out))
}

# check WHAT COMMAND...: one more test.
check()
{
    echo "== $1"
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

mkdir -p build
preset release all
# What only looks at kernels, measures orders, repeats tables or types what the documentation says has
# nothing new to say to sanitizers; nor have long runs of models (cli_advection, cli_compare, cli_euler): cli_run,
# cli_output, cli_restart and cli_converge run the same models for less long, and test_compare plans and measures.
preset debug all -LE 'convergence|paper' \
    -E 'test_sources|test_vectors|_without_vectors|test_(fragments|gemm|hard|sync)$|cli_(readme|advection|compare|euler)'
preset nompi 'unit_tests eagre' -L unit
check format tools/format.sh --check
check lint tools/lint.sh --quick

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
