#!/bin/sh
# Makes sure that what eagre needs is on this machine.
#
#     tools/setup.sh build     compiler, CMake, LAPACKE with OpenBLAS, MPI, METIS, libpng, zlib, HDF5
#     tools/setup.sh test      the same and cmocka, PoCL, clang and its tools, VTK
#
# Installs missing Debian packages where it may (as root or with a passwordless sudo); elsewhere it
# prints the command to run and fails. EAGRE_SKIP_SETUP=1 goes on with whatever is there.
set -eu

packages=

# need PACKAGE PROBE...: the package counts as there if dpkg says so or the probe succeeds.
need()
{
    package=$1
    shift
    if dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$'; then
        return
    fi
    if "$@" >/dev/null 2>&1; then
        return
    fi
    packages="$packages $package"
}

program() { command -v "$1"; }
module() { pkg-config --exists "$1"; }
library() { PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | grep -F "$1"; }
header() { echo "#include <$1>" | "${CC:-cc}" -E -; }
opencl_platform() { grep -l "$1" /etc/OpenCL/vendors/*.icd; }

need_for_build()
{
    need gcc program "${CC:-cc}"
    need libc6-dev header stdio.h
    need make program make
    need cmake program cmake
    need pkg-config program pkg-config
    need libopenblas-dev module openblas
    need liblapacke-dev module lapacke
    need libopenmpi-dev program mpicc
    need openmpi-bin program mpirun
    need libmetis-dev header metis.h
    need libpng-dev header png.h
    need zlib1g-dev header zlib.h
    need libhdf5-dev module hdf5-serial
}

need_for_test()
{
    need libcmocka-dev module cmocka
    need ocl-icd-libopencl1 library libOpenCL.so.1
    need pocl-opencl-icd opencl_platform pocl
    need hdf5-tools program h5dump
    need clang program clang
    need clang-tidy program clang-tidy
    need clang-format program clang-format
    need python3-vtk9 /usr/bin/python3 -c 'import vtkmodules.vtkIOXML'
}

purpose=${1:-build}
case $purpose in
build) need_for_build ;;
test)
    need_for_build
    need_for_test
    ;;
*)
    echo "usage: tools/setup.sh build|test" >&2
    exit 2
    ;;
esac

packages=${packages# }
if [ -z "$packages" ]; then
    exit 0
fi
if [ -n "${EAGRE_SKIP_SETUP:-}" ]; then
    echo "eagre: going on without: $packages" >&2
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "eagre: missing here, by the names of Debian's packages: $packages" >&2
    echo "Install what provides them, or set EAGRE_SKIP_SETUP=1 to go on without." >&2
    exit 1
fi

if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "eagre: some packages are missing, and installing them needs root. Run" >&2
    echo "    sudo apt-get install --no-install-recommends $packages" >&2
    exit 1
fi

echo "eagre: installing $packages"
# shellcheck disable=SC2086 # the lists are meant to be split
if ! { $as_root apt-get -q update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends $packages; }; then
    echo "eagre: apt-get failed. Install these by hand and try again:" >&2
    echo "    apt-get install --no-install-recommends $packages" >&2
    exit 1
fi
