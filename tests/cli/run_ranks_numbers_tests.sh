#!/bin/sh
# Tests of runs of several ranks: the numbers of many stencils: run_ranks_numbers_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/ranks_support.sh"

# Many stencils: the numbers of the whole grid.
tests="--plugins $(dirname "$bin")/../test-plugins -q"
# shellcheck disable=SC2086 # two words each
t run "$here/ranks.lua" $tests
check 'many stencils alone' is "$rc" 0
numbers=$(cat out)
# One of three has two neighbours.
# shellcheck disable=SC2086
m 3 run "$here/ranks.lua" $tests
check 'many stencils on 3 ranks' is "$(cat out)" "$numbers"
# shellcheck disable=SC2086
m 2 run "$here/ranks.lua" $tests --devices cpu:2
check 'many stencils on 2 ranks of 2 slabs' is "$(cat out)" "$numbers"

finish
