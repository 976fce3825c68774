#!/bin/sh
# Builds what users run and tests it: the installed tree, the Debian packages, the README's scenarios, the pages' plugins, and
# the contract of the archetypes (tests/archetypes.txt) with all instruction sets.
#
#   sh scripts/test-release.sh [ARGUMENTS FOR CTEST]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
PRESET=release target=release-tests
sh "$root/scripts/setup.sh"
. "$root/scripts/build.sh"
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
failed=0
rm -f "$build/Testing/Temporary/LastTest.log"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" -L package "$@" || failed=$?
allowed=
[ "${CI:-}" != true ] || allowed=$root/.ci/skips
sh "$root/scripts/skips.sh" "$build/Testing/Temporary/LastTest.log" ${allowed:+"$allowed"} || failed=1
exit $failed
