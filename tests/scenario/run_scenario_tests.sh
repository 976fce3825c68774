#!/bin/sh
# A scenario of this folder, which checks itself (tz.expect): run_scenario_tests.sh TRAPEZE NAME
# Prints TAP; exits 1 if one failed.
set -u
only=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/support.sh"
# Not optimised, most stencils take longer to compile than to run.
case $only in
seismic) plain_cc plain-cc 1 ;;
*) plain_cc plain-cc ;;
esac
export CC="$work/plain-cc"
# An array of uint64: a header of 128 bytes, then 2^64 - 1, 2^63 and 7.
header="{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "$header"
    printf '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\200\007\000\000\000\000\000\000\000'
} >wide.npy
# Large arrays of 2100 x 4096 numbers, mostly zeros that take no room on the disk: (2, 1) is 1.5. The first is big-endian,
# in Fortran order; the second ends with a NaN.
huge() { # huge NAME TYPE ORDER, then OFFSET BYTES…: elements
    name=$1
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$2', 'fortran_order': $3, 'shape': (4096, 2100), }" >"$name"
    shift 3
    truncate -s $((128 + 8 * 2100 * 4096)) "$name"
    while [ $# -gt 0 ]; do
        printf "$2" | dd of="$name" bs=1 seek=$((128 + 8 * $1)) conv=notrunc status=none
        shift 2
    done
}
huge turned.npy '>f8' True $((1 + 4096 * 2)) '\077\370\000\000\000\000\000\000'
huge bad.npy '<f8' False $((2 + 2100)) '\000\000\000\000\000\000\370\077' \
    $((2100 * 4096 - 1)) '\000\000\000\000\000\000\370\177'
cp "$here/../predict/cpu.txt" . # a device that need not be here

# Policies that search the heights, those included that this program has besides its own.
own=
[ "$only" != policies ] ||
    own=searchers=$("$bin" run --help | sed -n 's/^ *(\(.*\)) start there.*/\1/; t list; d; : list; s/ and / /g; p')

# one NAME ARGUMENT…
one() {
    name=$1
    shift
    count=$((count + 1))
    if "$bin" run "$@" --set data="$work" ${own:+--set "$own"} --quiet >output 2>&1 </dev/null; then
        echo "ok $count - $name$(sed -n '/^skipped: /{s// # SKIP /;p;q;}' output)"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' output
    fi
}

script=$here/$only.lua
one "$only" "$script" --out out
if [ "$only" = chip ]; then
    units=$(awk '$1 == "left" { printf " %.4g", $2 }' out/*avg.steady out/*center.steady out/*min.steady out/*max.steady)
    count=$((count + 1))
    [ "$units" = " 318 314 300 346" ] || { failed=$((failed + 1)); printf 'not '; }
    echo "ok $count - units of .steady files:$units"
    count=$((count + 1))
    said=$(grep -c -e 'ambient is 45 K (-228.15 °C)' -e 'gap.flp: units cover 50 % of the plan of 0.016 m x 0.016 m' \
        -e "spare.ptrace: 'top' and other units are in no floorplan" output)
    [ "$said" = 3 ] || { failed=$((failed + 1)); printf 'not '; sed 's/^/# /' output; }
    echo "ok $count - warnings: $said"
fi
one "$only on the reference" "$script" --backend reference --set backend=reference --out reference
one "$only --check" "$script" --check
echo "1..$count"
[ "$failed" -eq 0 ]
