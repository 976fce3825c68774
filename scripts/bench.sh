#!/bin/sh
# Trapeze against plain OpenMP loops of the same arithmetic (tests/bench/plain.c, -O3 -march=native),
# run alternately, so that a drift of the machine's speed affects both: sh scripts/bench.sh [ROUNDS]
#
# Prints medians in GCells/s, the ratio, the speed of Trapeze for each thread as a share of that with the first number
# of threads, and the ratio round by round. Environment variables:
#   THREADS='1 2 4'   threads of both programs, one number after the other (default: all processors)
#   CASES='hotspot'   only these cases
#   BUILD=DIR         a finished build or an installed tree (default: build it here)
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
rounds=${1:-5}
if [ -n "${BUILD:-}" ]; then
    build=$BUILD
else
    sh "$root/scripts/setup.sh"
    target=all
    . "$root/scripts/build.sh"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Compiled here: -march=native code runs on this machine only.
cc -O3 -march=native -fopenmp "$root/tests/bench/plain.c" -o "$work/plain"

middle() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# measure NAME NX NY NZ STEPS THREADS: a line of the table
measure() {
    : >"$work/p" >"$work/t" >"$work/r"
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        plain=$("$work/plain" "$1" "$2" "$3" "$4" "$5" "$6" | cut -d' ' -f1)
        "$build/bin/trapeze" run "$root/scripts/bench.lua" --quiet --out "$work/run" --backend cpu \
            --set "case=$1" --set "threads=$6" --set rounds=3 >"$work/table"
        ours=$(awk 'NR == 2 {print $7}' "$work/table")
        rm -rf "$work/run"
        echo "$plain" >>"$work/p"
        echo "$ours" >>"$work/t"
        awk -v a="$ours" -v b="$plain" 'BEGIN {printf "%.2f\n", a / b}' >>"$work/r"
    done
    ours=$(middle <"$work/t")
    [ -s "$work/first" ] || echo "$ours $6" >"$work/first"
    share=$(awk -v ours="$ours" -v threads="$6" '{printf "%.0f %%", 100 * ours / threads / ($1 / $2)}' "$work/first")
    printf '%-14s %-16s %8d %10s %10s %7s %7s  %s\n' "$1" "${2}x${3}x$4" "$6" \
        "$(middle <"$work/p")" "$ours" "$(middle <"$work/r")" "$share" "$(sort -n "$work/r" | tr '\n' ' ')"
}

printf '%-14s %-16s %8s %10s %10s %7s %7s  %s\n' case grid threads plain trapeze ratio share 'ratios'
while read -r name nx ny nz steps; do
    case " ${CASES:-$name} " in *" $name "*) ;; *) continue ;; esac
    rm -f "$work/first"
    for threads in ${THREADS:-$(nproc)}; do measure "$name" "$nx" "$ny" "$nz" "$steps" "$threads" </dev/null; done
done <<EOF
star2d1r 8192 8192 1 40
star2d1r-fp64 8192 8192 1 24
hotspot 8192 8192 1 40
star3d1r 512 512 512 24
life 65536 65536 1 20
pathfinder 10000000 1 1 100
EOF
