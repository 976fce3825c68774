#!/bin/sh
# Installs the packages that building Trapeze needs: sh scripts/setup.sh [--ci] [--arm64]
#
# On Debian, Ubuntu and their derivatives it installs missing packages, as root or through sudo, without
# asking. Elsewhere it lists what is missing and stops. --ci adds what only continuous integration
# needs, --arm64 what builds and runs programs for arm64 on Debian for x86-64; dpkg then knows that architecture.
set -eu

packages='gcc g++ libc6-dev cmake ninja-build pkg-config liblua5.4-dev libpng-dev libjansson-dev libcmocka-dev'
# Draws plots; any gnuplot package will do.
command -v gnuplot >/dev/null 2>&1 || packages="$packages gnuplot-nox"
ci=no
# Without these, tests are skipped. libfftw3-double3 (under the GPL): jumps on a CPU, sim:jump.
optional=libfftw3-double3
# Builds and runs programs for arm64 on Debian for x86-64.
cross='gcc-aarch64-linux-gnu qemu-user libpng-dev:arm64 libjansson-dev:arm64 liblua5.4-dev:arm64 libcmocka-dev:arm64'
arm64=
for argument in "$@"; do
    case $argument in
    --arm64) arm64=$cross ;;
    --ci) ci=yes packages="$packages clang-format-14" optional="$optional libopenmpi-dev openmpi-bin libmicrohttpd-dev curl chromium python3-numpy python3-pil lintian dpkg-dev" ;;
    *) echo "setup: unknown argument '$argument'; usage: sh scripts/setup.sh [--ci] [--arm64]" >&2; exit 2 ;;
    esac
done

report() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# The distribution and those that it derives from.
family=$(
    ID='' ID_LIKE=''
    [ -r /etc/os-release ] && . /etc/os-release
    echo "$ID $ID_LIKE"
)

has_header() { # has_header FILE: the compiler finds it, or a usual folder holds it
    echo "#include <$1>" | "${CC:-cc}" -E -x c - >/dev/null 2>&1
}

# Lists what is missing, on systems without dpkg.
list_missing() {
    command -v "${CC:-cc}" >/dev/null 2>&1 || echo 'a C compiler (gcc)'
    command -v "${CXX:-c++}" >/dev/null 2>&1 ||
        echo 'a C++ compiler (g++; the tests alone need it, to run GPU kernels without a GPU)'
    command -v cmake >/dev/null 2>&1 || echo 'cmake (3.25 or newer)'
    command -v ninja >/dev/null 2>&1 || echo 'ninja'
    if ! command -v pkg-config >/dev/null 2>&1; then
        echo 'pkg-config'
    else
        pkg-config --exists jansson || echo 'jansson, development files'
        pkg-config --exists cmocka || echo 'cmocka, development files'
        pkg-config --exists libpng || echo 'libpng, development files'
    fi
    has_header lua5.4/lua.h || has_header lua54/lua.h || has_header lua.h ||
        echo 'Lua 5.4, development files'
    if [ $ci = yes ] && ! command -v clang-format-14 >/dev/null 2>&1; then
        echo clang-format-14
    fi
}

check_cmake() {
    version=$(cmake --version | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p')
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    if [ "$major" -lt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -lt 25 ]; }; then
        fail "cmake $version is too old: Trapeze needs 3.25 or newer (Debian 12, Ubuntu 24.04); see https://cmake.org/download"
    fi
}

case " $family " in
*' debian '* | *' ubuntu '*) ;;
*)
    missing=$(list_missing)
    if [ -n "$missing" ]; then
        echo 'setup: this is neither Debian nor Ubuntu; please install:' >&2
        echo "$missing" | sed 's/^/  /' >&2
        exit 1
    fi
    check_cmake
    exit 0
    ;;
esac

list_packages() { # list_packages PACKAGE...: those that are not installed, each after a blank
    for package in "$@"; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf ' %s' "$package"
    done
}
[ "$(dpkg --print-architecture) ${family%% *}" = 'amd64 debian' ] || arm64=
# shellcheck disable=SC2086 # lists of packages
missing=$(list_packages $packages) optional=$(list_packages $optional) arm64=$(list_packages $arm64)
if [ -z "$missing" ] && [ -n "$optional$arm64" ] && [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
    report "optional packages are missing, which root can install: apt-get install$optional$arm64"
    optional='' arm64=''
fi

if [ -n "$missing$optional$arm64" ]; then
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            fail "packages are missing, and there is no sudo; run as root: apt-get install$missing$optional$arm64"
        as_root=sudo
        # Without a terminal a password prompt would hang.
        [ -t 0 ] || as_root='sudo -n'
        $as_root true ||
            fail "sudo failed; run as root, or in a terminal: sudo apt-get install$missing$optional$arm64"
    fi
    apt="$as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -o DPkg::Lock::Timeout=300"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    update() {
        report 'fetching the package lists'
        $apt update >>"$log" 2>&1 </dev/null || { cat "$log" >&2; fail 'apt-get update failed: see above'; }
    }
    install() { # install PACKAGE...
        [ $# -eq 0 ] || $apt install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
    }
    # The package lists may be missing, or old.
    updated=no
    if ! ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1; then
        update
        updated=yes
    fi
    report "installing$missing$optional$arm64"
    # shellcheck disable=SC2086 # lists of packages
    if ! install $missing; then
        if [ $updated = no ]; then
            update
            install $missing || { cat "$log" >&2; fail "could not install$missing: see above"; }
        else
            cat "$log" >&2
            fail "could not install$missing: see above"
        fi
    fi
    # shellcheck disable=SC2086 # a list of packages
    install $optional || report "could not install$optional: tests that need them are skipped"
    # shellcheck disable=SC2086 # a list of packages
    [ -z "$arm64" ] || { $as_root dpkg --add-architecture arm64 && $apt update >>"$log" 2>&1 </dev/null && install $arm64; } ||
        report "could not install$arm64: what needs them is skipped"
fi
check_cmake
