#!/bin/sh
# Builds what users run and tests it: commands, scenarios, the contract of the archetypes (tests/archetypes.txt) with all
# instruction sets, kernels on the executor, the oracles, the installed tree, the Debian packages, the README, the pages.
# Stencils that are no archetypes have one instruction set here: lbm with all compiles for a minute.
#
#   sh scripts/test-release.sh [ARGUMENTS FOR CTEST]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
PRESET=gate target=release-tests
sh "$root/scripts/setup.sh"
. "$root/scripts/build.sh"
[ -n "${TZ_DATA_DIR:-}" ] || [ ! -d "$root/../shared/data" ] || export TZ_DATA_DIR="$root/../shared/data"
jobs=$(($(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1)) # some tests wait
failed=0
rm -f "$build/Testing/Temporary/LastTest.log"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" -L '^release$' "$@" || failed=$?
allowed=
[ "${CI:-}" != true ] || allowed=$root/.ci/skips
sh "$root/scripts/skips.sh" "$build/Testing/Temporary/LastTest.log" ${allowed:+"$allowed"} || failed=1
exit $failed
