#!/bin/sh
# Fuzzes a parser under the address and undefined-behaviour sanitizers, with clang's libFuzzer.
#
#     tools/fuzz.sh NAME [SECONDS]     toml, expression, …: tests/fuzz/fuzz_NAME.c; 600 s if not given
#
# Starts from the corpus in tests/fuzz/corpus/NAME. What it finds is left in build/fuzz/NAME; add the
# file to the corpus with the fix, so that `make test` replays it.
set -eu
cd "$(dirname "$0")/.."

name=${1:-}
seconds=${2:-600}
if [ ! -f "tests/fuzz/fuzz_$name.c" ]; then
    echo "usage: tools/fuzz.sh NAME [SECONDS], with NAME one of" >&2
    ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/    \1/' >&2
    exit 2
fi

build=build/fuzz/build
work=build/fuzz/$name
mkdir -p "$work/corpus"
CC=clang cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF -DEAGRE_MPI=OFF \
    -DEAGRE_PNG=OFF -DEAGRE_SANITIZE=address,undefined -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link \
    >"$work/configure.log"
cmake --build "$build" --target eagre_all -j "$(nproc)"
hdf5=
if pkg-config --exists hdf5-serial; then
    hdf5="-DEG_HAVE_HDF5 $(pkg-config --cflags --libs hdf5-serial)"
fi
# shellcheck disable=SC2046,SC2086 # lists of flags
clang -std=c17 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -Iinclude -Isrc -Itests "tests/fuzz/fuzz_$name.c" "$build/libeagre_all.a" \
    $hdf5 $(pkg-config --libs lapacke openblas) -lmetis -lz -lm -ldl -lpthread -o "$work/fuzz"

dictionary=tests/fuzz/$name.dict
"$work/fuzz" -max_total_time="$seconds" -timeout=10 -max_len=8192 -artifact_prefix="$work/" \
    ${dictionary:+$([ -f "$dictionary" ] && echo "-dict=$dictionary")} \
    "$work/corpus" "tests/fuzz/corpus/$name"
