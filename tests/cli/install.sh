#!/bin/sh
# Installs eagre into an empty prefix, checks what the library exports, and builds a program against
# it with pkg-config and with CMake, as a user would.
#
#     install.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -eu

source=${2:-$(dirname "$0")/../..}
build=${3:-$(dirname "$1")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail()
{
    echo "install.sh: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || {
    cat "$work/install.log"
    fail "cmake --install failed"
}
library=$(find "$prefix" -name 'libeagre.so.0')
[ -n "$library" ] || fail "libeagre.so.0 was not installed"
libdir=$(dirname "$library")
for file in bin/eagre include/eagre/eagre.h share/man/man1/eagre.1 \
    share/bash-completion/completions/eagre; do
    [ -f "$prefix/$file" ] || fail "$file was not installed"
done
"$prefix/bin/eagre" --version >"$work/version" || fail "the installed command does not run"
grep -qF "$(sed -n 's/^Version: //p' "$libdir/pkgconfig/eagre.pc")" "$work/version" ||
    fail "the command and eagre.pc differ in their version: $(cat "$work/version")"

# The library exports what the headers declare, nothing more and nothing less.
cat "$source"/include/eagre/*.h | sed -n 's/^EG_API .*[ *]\(eg_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/declared"
[ -s "$work/declared" ] || fail "the headers declare nothing"
nm -D --defined-only "$library" | sed -n 's/^[0-9a-f]* [A-Z] \(eg_[a-z0-9_]*\)\(@.*\)\{0,1\}$/\1/p' |
    sort -u >"$work/exported"
diff "$work/declared" "$work/exported" ||
    fail "the library does not export what the headers declare (<: only declared, >: only exported)"

mkdir "$work/user"
cat >"$work/user/main.c" <<'END'
#include <eagre/eagre.h>
#include <stdio.h>

int main(void)
{
    eg_context *ctx = NULL;
    if (eg_context_create(NULL, &ctx) != EG_OK) return 1;
    eg_context_destroy(&ctx);
    printf("%s\n", eg_version());
    return ctx != NULL;
}
END
cat >"$work/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(eagre 0.1 REQUIRED)
add_executable(main main.c)
target_link_libraries(main PRIVATE eagre::eagre)
END

# A program that uses a library with sanitizers must have them too.
sanitize=$(sed -n 's/^EAGRE_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=${sanitize:+-fsanitize=$sanitize}
export PKG_CONFIG_PATH="$libdir/pkgconfig"
version=$(pkg-config --modversion eagre)

# shellcheck disable=SC2046,SC2086 # flags are meant to be split
${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Werror $flags "$work/user/main.c" -o "$work/main" \
    $(pkg-config --cflags --libs eagre)
[ "$(LD_LIBRARY_PATH=$libdir "$work/main")" = "$version" ] ||
    fail "the program built with pkg-config did not print $version"

cmake -S "$work/user" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags" \
    >"$work/configure.log" 2>&1 || {
    cat "$work/configure.log"
    fail "find_package(eagre) failed"
}
cmake --build "$work/cmake" >"$work/build.log" 2>&1 || {
    cat "$work/build.log"
    fail "the program did not build with eagre::eagre"
}
[ "$("$work/cmake/main")" = "$version" ] ||
    fail "the program built with CMake did not print $version"

# The headers are C++ as well.
if command -v clang >/dev/null; then
    echo '#include <eagre/eagre.h>' |
        clang -x c++ -std=c++17 -Wall -Werror -fsyntax-only -I "$prefix/include" -
fi
