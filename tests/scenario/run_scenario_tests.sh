#!/bin/sh
# Every scenario of this folder checks itself (tz.expect); this runs them all.
#
#   run_scenario_tests.sh TRAPEZE
#
# Prints TAP; exits 1 if one failed.
set -u
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-scenario.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# An exhaustive policy must not use the user's measurements.
export TRAPEZE_CACHE="${TRAPEZE_CACHE:-$work/cache}"
# An array of uint64: a header of 128 bytes, then 2^64 - 1, 2^63 and 7.
header="{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    printf '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\200\007\000\000\000\000\000\000\000'
} >wide.npy
count=0
failed=0

# one NAME ARGUMENT…
one() {
    name=$1
    shift
    count=$((count + 1))
    if "$bin" run "$@" --set data="$work" --quiet >output 2>&1 </dev/null; then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' output
    fi
}

for script in "$here"/*.lua; do
    base=$(basename "$script" .lua)
    [ "$base" != checks ] || continue
    one "$base" "$script" --out "$base"
    one "$base on the reference" "$script" --backend reference --set backend=reference --out "$base-reference"
    one "$base --check" "$script" --check
done
echo "1..$count"
[ "$failed" -eq 0 ]
