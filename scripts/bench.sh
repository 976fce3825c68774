#!/bin/sh
# Trapeze against plain OpenMP loops of the same arithmetic (tests/bench/plain.c, -O3 -march=native),
# run alternately, so that a drift of the machine's speed affects both: sh scripts/bench.sh [ROUNDS]
#
# Prints medians in GCells/s and the ratio round by round. THREADS=N sets the threads of both.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
rounds=${1:-5}
threads=${THREADS:-$(nproc)}

sh "$root/scripts/setup.sh"
target=all
. "$root/scripts/build.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Compiled here: -march=native code runs on this machine only.
cc -O3 -march=native -fopenmp "$root/tests/bench/plain.c" -o "$work/plain"

middle() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

printf '%-14s %-16s %8s %10s %10s %7s  %s\n' case grid threads plain trapeze ratio 'ratios'
while read -r name nx ny nz steps; do
    : >"$work/p" >"$work/t" >"$work/r"
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        plain=$("$work/plain" "$name" "$nx" "$ny" "$nz" "$steps" "$threads" | cut -d' ' -f1)
        "$build/bin/trapeze" run "$root/scripts/bench.lua" --quiet --out "$work/run" \
            --set "case=$name" --set "threads=$threads" --set rounds=3 >"$work/table"
        ours=$(awk 'NR == 2 {print $7}' "$work/table")
        rm -rf "$work/run"
        echo "$plain" >>"$work/p"
        echo "$ours" >>"$work/t"
        awk -v a="$ours" -v b="$plain" 'BEGIN {printf "%.2f\n", a / b}' >>"$work/r"
    done
    printf '%-14s %-16s %8d %10s %10s %7s  %s\n' "$name" "${nx}x${ny}x${nz}" "$threads" \
        "$(middle <"$work/p")" "$(middle <"$work/t")" "$(middle <"$work/r")" \
        "$(sort -n "$work/r" | tr '\n' ' ')"
done <<EOF
star2d1r 8192 8192 1 40
star2d1r-fp64 8192 8192 1 24
hotspot 8192 8192 1 40
star3d1r 512 512 512 24
life 65536 65536 1 20
pathfinder 10000000 1 1 100
EOF
