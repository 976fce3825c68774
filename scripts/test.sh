#!/bin/sh
# Sets up, builds with the address and undefined-behaviour sanitizers, and runs the tests that the gate runs so; those of the
# label release are for test-release.sh. With arguments it builds all and runs what they choose:
#
#   sh scripts/test.sh [ARGUMENTS FOR CTEST]     -L FOLDER, -R NAME, …
#
# PRESET=release (or debug) builds and tests that preset. CMAKE_ARGS are passed to cmake. Skipped tests are listed; with
# CI=true a reason that .ci/skips does not list is a failure. Some suites run on the stencils of tests/archetypes.txt:
# scripts/test-all.sh runs them on every stencil.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
: "${PRESET:=asan}"

sh "$root/scripts/setup.sh"
[ $# -gt 0 ] || [ $PRESET != asan ] || { target=sanitized-tests && set -- -LE '^release$'; }
. "$root/scripts/build.sh"

# Inputs that are not part of this project, if they lie next to the checkout.
if [ -z "${TZ_DATA_DIR:-}" ] && [ -d "$root/../shared/data" ]; then
    export TZ_DATA_DIR="$root/../shared/data"
fi
jobs=$(($(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1)) # some tests wait
failed=0
rm -f "$build/Testing/Temporary/LastTest.log"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" "$@" || failed=$?

allowed=
[ "${CI:-}" != true ] || allowed=$root/.ci/skips
sh "$root/scripts/skips.sh" "$build/Testing/Temporary/LastTest.log" ${allowed:+"$allowed"} || failed=1
exit $failed
