#!/bin/sh
# Attacks on this tree's program, drawn by a seed: signals at random moments, folders of others, clients of the live view,
# formulas, races for the cache, damaged files.
#
#   sh scripts/attack.sh [SECONDS [SEED [ATTACK]]]
#
# 600 s, a seed of the clock and all attacks by default; ATTACK is the beginning of a name of the table, such as signals.
# BUILD=FOLDER: not build-asan.
#
# A table at the end says what was tried and what fell. Ends with 1 if something fell.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${BUILD:-$root/build-asan}
seed=${2:-$(date +%s)}
[ -x "$build/bin/trapeze" ] || { echo "attack: there is no $build/bin/trapeze; sh scripts/test.sh builds it" >&2 && exit 1; }
command -v python3 >/dev/null || { echo 'skipped: no python3' && exit 77; }
readers=$build/test-bin/fuzz_readers
[ -x "$readers" ] || readers=
echo "seed $seed"
exec python3 "$root/tests/fuzz/attack.py" "$build/bin/trapeze" "${1:-600}" "$seed" "$readers" ${3:+"$3"}
