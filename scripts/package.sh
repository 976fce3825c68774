#!/bin/sh
# Makes Debian packages, trapeze, trapeze-dev and (with MPI) trapeze-mpi: sh scripts/package.sh [FOLDER]
#
# Installs what is missing, builds, and writes the .deb files into FOLDER (default: build/packages). Then:
# apt-get install FOLDER/*.deb
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
[ $# -le 1 ] || { echo 'usage: sh scripts/package.sh [FOLDER]' >&2; exit 2; }
mkdir -p "${1:-$root/build/packages}"
folder=$(CDPATH= cd -- "${1:-$root/build/packages}" && pwd)
sh "$root/scripts/setup.sh"
command -v dpkg-shlibdeps >/dev/null 2>&1 || { echo 'package: dpkg-shlibdeps is missing: apt-get install dpkg-dev' >&2; exit 1; }
target=app
. "$root/scripts/build.sh"
cmake --build "$build" --target contract
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder"
rm -rf "$folder/_CPack_Packages"
