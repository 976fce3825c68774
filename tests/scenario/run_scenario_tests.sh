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
count=0
failed=0

# one NAME ARGUMENT…
one() {
    name=$1
    shift
    count=$((count + 1))
    if "$bin" run "$@" --quiet >output 2>&1 </dev/null; then
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
