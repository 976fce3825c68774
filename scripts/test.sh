#!/bin/sh
# Sets up, builds and runs every test: sh scripts/test.sh [ARGUMENTS FOR CTEST]
#
# PRESET=asan (or debug) builds and tests that preset instead of release. TZ_CONTRACT=quick tests
# fewer cases of each plugin. CMAKE_ARGS are passed to cmake.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)

sh "$root/scripts/setup.sh"
. "$root/scripts/build.sh"

jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" "$@"
