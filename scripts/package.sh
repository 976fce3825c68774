#!/bin/sh
# Makes Debian packages and the source tarball of the last commit: sh scripts/package.sh [--arm64] [FOLDER]
#
# Installs what is missing, builds, and writes trapeze-VERSION.tar.gz and the .deb files (trapeze, libraries, trapeze-dev,
# python3-trapeze and, with MPI, trapeze-mpi) into FOLDER (default: build/packages). Then: apt-get install FOLDER/*.deb
# --arm64: for arm64, with Debian's cross compiler; without trapeze-mpi.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
setup=''
[ "${1:-}" != --arm64 ] || { PRESET=arm64 setup=--arm64 && shift; }
[ $# -le 1 ] || { echo 'usage: sh scripts/package.sh [--arm64] [FOLDER]' >&2; exit 2; }
mkdir -p "${1:-$root/build/packages}"
folder=$(CDPATH= cd -- "${1:-$root/build/packages}" && pwd)
sh "$root/scripts/setup.sh" $setup
[ -z "$setup" ] || command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || { echo 'package: no aarch64-linux-gnu-gcc' >&2; exit 1; }
command -v dpkg-shlibdeps >/dev/null 2>&1 || { echo 'package: dpkg-shlibdeps is missing: apt-get install dpkg-dev' >&2; exit 1; }
target=app
. "$root/scripts/build.sh"
cmake --build "$build" --target contract
version=$(sed -n 's/^project(trapeze VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
if git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
    git -C "$root" archive --format=tar --prefix="trapeze-$version/" HEAD | gzip -9n >"$folder/trapeze-$version.tar.gz"
else
    echo 'package: no source tarball: this is no checkout of git'
fi
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder"
rm -rf "$folder/_CPack_Packages"
