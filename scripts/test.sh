#!/bin/sh
# Sets up, builds and runs every test: sh scripts/test.sh [ARGUMENTS FOR CTEST]
#
# PRESET=asan (or debug) builds and tests that preset instead of release. TZ_CONTRACT=quick tests
# fewer cases of each plugin. CMAKE_ARGS are passed to cmake. Skipped tests are listed;
# with CI=true a reason that .ci/skips does not list is a failure.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)

sh "$root/scripts/setup.sh"
. "$root/scripts/build.sh"

# Inputs that are not part of this project, if they lie next to the checkout.
if [ -z "${TZ_DATA_DIR:-}" ] && [ -d "$root/../shared/data" ]; then
    export TZ_DATA_DIR="$root/../shared/data"
fi
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
failed=0
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" "$@" || failed=$?

allowed=
[ "${CI:-}" != true ] || allowed=$root/.ci/skips
sh "$root/scripts/skips.sh" "$build/Testing/Temporary/LastTest.log" ${allowed:+"$allowed"} || failed=1
exit $failed
