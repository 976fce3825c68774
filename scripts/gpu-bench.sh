#!/bin/sh
# Measures the cuda backend: scripts/bench.lua on large grids, every case at height 1 and at the height
# that is chosen, then small grids that stay on chip.
#
#   sh scripts/gpu-bench.sh [BUILD]          one finished build (default: build)
#   sh scripts/gpu-bench.sh BUILD OTHER      two builds by turns, then their ratio for every case
#
# Variables: CASES and SMALL are lists of cases (- for none). TURNS says how often two builds take
# turns (default 3). SECONDS_A_ROUND is the length of a round (default 0.2): after some 0.1 s of work a GPU may
# lower its clock for its power, so short rounds compare kernels best; SECONDS_A_ROUND=2 gives the speed of long
# runs. GRID2 and GRID3 are the large grids. HEIGHTS (default 1,auto) are those of large grids. PROFILE=yes reads hardware counters
# of the chosen plan of each case instead, by ncu: how busy each unit is.
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

# What a stage keeps busy: shares of the most that a unit can do.
profile() {
    ncu --clock-control none --kernel-name tz_stage --launch-skip 2 --launch-count 1 --csv --metrics "\
sm__inst_issued.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,\
lts__throughput.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed,\
sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active,sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active,\
sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active" \
        "$build/bin/trapeze" run "$root/scripts/bench.lua" --backend cuda --quiet --out "$work/profile" --set rounds=1 \
        --set seconds=0.001 "$@" >"$work/counters" 2>&1 || { tail -n 3 "$work/counters"; return 0; }
    rm -rf "$work/profile"
    awk -F'","' -v name="$2" '/"tz_stage/ {
        gsub(/"/, "", $NF); value[$(NF - 2)] = $NF }
    END {
        printf "%-16s", name
        for (i = 1; i <= 7; i++) printf " %8s", value[m[i]] == "" ? "-" : sprintf("%.0f", value[m[i]])
        printf "\n"
    }
    BEGIN {
        m[1] = "sm__inst_issued.avg.pct_of_peak_sustained_active"; m[2] = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        m[3] = "lts__throughput.avg.pct_of_peak_sustained_elapsed"; m[4] = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
        m[5] = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"; m[6] = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"
        m[7] = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"
    }' "$work/counters"
}

"$build/bin/trapeze" doctor --verbose | grep -E 'GPU 0|driver' | sort -u
[ -z "${PROFILE:-}" ] || printf '%-16s %8s %8s %8s %8s %8s %8s %8s   (%% of the peak)\n' case issue memory l2 shared logic fma fp64
for case in ${CASES:-star2d1r star2d1r-fp64 star2d2r star2d2r-fp64 box2d1r box2d1r-fp64 box2d2r hotspot \
    poisson star3d1r star3d1r-fp64 star3d2r box3d1r box3d1r-fp64 life cell pathfinder}; do
    grid=
    case $case in
    -) continue ;;
    star2d* | box2d* | hotspot | poisson) grid=${GRID2:-16384,16384} ;;
    star3d* | box3d*) grid=${GRID3:-768,768,768} ;;
    esac
    heights=${HEIGHTS:-1,auto}
    [ "$case:${HEIGHTS:-}" = pathfinder: ] && heights=1,10,20,auto
    if [ -n "${PROFILE:-}" ]; then
        profile --set "case=$case" ${grid:+--set "grid=$grid"} --set heights=auto
    else
        bench --set "case=$case" ${grid:+--set "grid=$grid"} --set "heights=$heights"
    fi
done
[ -z "${PROFILE:-}" ] || exit 0
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
