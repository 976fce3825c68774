#!/bin/sh
# Measures the cuda backend: scripts/bench.lua on large grids, every case at height 1 and at the height
# that is chosen, then small grids that stay on chip.
#
#   sh scripts/gpu-bench.sh [BUILD]          one finished build (default: build)
#   sh scripts/gpu-bench.sh BUILD OTHER      two builds by turns, then their ratio for every case
#
# Variables: CASES and SMALL are lists of cases (- for none). TURNS says how often two builds take
# turns (default 3). SECONDS_A_ROUND is the length of a round (default 0.2): after some 0.1 s of work a GPU may
# lower its clock for its power, so short rounds compare kernels best. GRID2 and GRID3 are the large grids.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${1:-$root/build}
other=${2:-}
turns=1
[ -z "$other" ] || turns=${TURNS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# bench OPTION...: one case, in each build, in each turn. Prints the lines of the tables.
bench() {
    turn=0
    while [ "$turn" -lt "$turns" ]; do
        turn=$((turn + 1))
        for which in "$build" $other; do
            number=$((number + 1))
            "$which/bin/trapeze" run "$root/scripts/bench.lua" --backend cuda --quiet --out "$work/$number" \
                --set "seconds=${SECONDS_A_ROUND:-0.2}" "$@" >"$work/table" || return 1
            [ $number = 1 ] && head -n 1 "$work/table"
            label=
            [ -z "$other" ] || label="$([ "$which" = "$build" ] && echo A || echo B) "
            tail -n +2 "$work/table" | sed "s/^/$label/" | tee -a "$work/all"
        done
    done
}

"$build/bin/trapeze" doctor --verbose | grep -E 'GPU 0|driver' | sort -u
for case in ${CASES:-star2d1r star2d1r-fp64 star2d2r star2d2r-fp64 box2d1r box2d1r-fp64 box2d2r hotspot \
    poisson star3d1r star3d1r-fp64 star3d2r box3d1r box3d1r-fp64 life cell pathfinder}; do
    case $case in
    -) ;;
    star2d* | box2d* | hotspot | poisson)
        bench --set "case=$case" --set "grid=${GRID2:-16384,16384}" --set heights=1,auto ;;
    star3d* | box3d*) bench --set "case=$case" --set "grid=${GRID3:-768,768,768}" --set heights=1,auto ;;
    pathfinder) bench --set "case=$case" --set heights=1,10,20,auto ;;
    *) bench --set "case=$case" --set heights=1,auto ;;
    esac
done
echo "small grids"
for case in ${SMALL:-star2d1r hotspot life}; do
    case $case in
    -) ;;
    life) bench --set "case=$case" --set grid=8192,8192 --set heights=1,4,8 --set families=resident,stream ;;
    *) bench --set "case=$case" --set grid=1536,1536 --set heights=1,4,8 --set families=resident,stream ;;
    esac
done

# Of each case and height: the medians of both builds, their ratio, and the spread of the turns.
[ -n "$other" ] || exit 0
printf '\n%-10s %-15s %-8s %-9s %4s %10s %10s %8s  %s\n' stencil grid precision family h A B 'B/A' 'spread of A, of B'
awk '
function median(list,   n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    low = v[1]
    high = v[n]
    return (v[int((n + 1) / 2)] + v[int((n + 2) / 2)]) / 2
}
$6 ~ /^[0-9]+$/ && $8 ~ /^[0-9.]+$/ {
    key = sprintf("%-10s %-15s %-8s %-9s %4s", $2, $3, $4, $5, $6)
    if (!(key in seen)) { seen[key] = 1; order[++count] = key }
    rates[$1 key] = rates[$1 key] " " $8
}
END {
    for (i = 1; i <= count; i++) {
        key = order[i]
        a = median(rates["A" key])
        spread_a = 100 * (high - low) / (a > 0 ? a : 1)
        b = median(rates["B" key])
        spread_b = 100 * (high - low) / (b > 0 ? b : 1)
        if (a > 0 && b > 0) {
            printf "%s %10.3f %10.3f %8.4f  %.1f %%, %.1f %%\n", key, a, b, b / a, spread_a, spread_b
            if (b / a < worst || worst == 0) worst = b / a
            if (b / a > best) best = b / a
        } else
            printf "%s measured in one build alone\n", key
    }
    printf "%d cases and heights, B/A %.4f to %.4f\n", count, worst, best
}' "$work/all"
