#!/bin/sh
# The public headers are C++17 too, each on its own, and a launch can be written in it.
#
#     cplusplus.sh COMMAND [SOURCE-DIR [BUILD-DIR]]
set -eu

source=${2:-$(dirname "$0")/../..}
command -v g++ >/dev/null || {
    echo "cplusplus.sh: g++ is not there" >&2
    exit 77
}

check()
{
    g++ -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$source/include" - || {
        echo "cplusplus.sh: $1 is no C++17" >&2
        exit 1
    }
}

for header in "$source"/include/eagre/*.h; do
    name=eagre/$(basename "$header")
    # The one header that needs another package.
    if [ "$name" = eagre/mpi.h ] &&
        ! echo '#include <mpi.h>' | g++ -x c++ -fsyntax-only - 2>/dev/null; then
        continue
    fi
    echo "#include <$name>" | check "$name"
done

check "a launch" <<'END'
#include <eagre/eagre.h>

eg_status launch(eg_kernel *kernel, eg_buffer *u, const eg_operator *a)
{
    const eg_argument arguments[] = {EG_BUFFER("u", u), EG_BUFFER_AT("v", u, 64),
                                     EG_OPERATOR("a", a), EG_INTEGER("n", 3), EG_REAL("s", 0.5)};
    return eg_launch_tiles(kernel, 0, 10, arguments, sizeof arguments / sizeof arguments[0]);
}

eg_status create(eg_context **ctx)
{
    eg_context_options options = eg_context_defaults();
    options.check = EG_CHECK_ON;
    return eg_context_create(&options, ctx);
}
END
