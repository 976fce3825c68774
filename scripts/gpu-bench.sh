#!/bin/sh
# Measures the cuda backend: scripts/bench.lua over heights; ends in a table. Needs a
# finished build: sh scripts/gpu-bench.sh [BUILD_FOLDER]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${1:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=1
for case in ${CASES:-star2d1r star2d1r-fp64 box2d1r hotspot star3d1r life pathfinder}; do
    case $case in
    star3d* | box3d*) heights=1,2,3 ;;
    pathfinder) heights=1,10,20,50 ;;
    *) heights=1,2,4,8 ;;
    esac
    "$build/bin/trapeze" run "$root/scripts/bench.lua" --backend cuda --quiet --out "$work/run" \
        --set "case=$case" --set "heights=$heights" >"$work/table"
    [ $first = 1 ] && head -n 1 "$work/table"
    first=0
    tail -n +2 "$work/table"
    rm -rf "$work/run"
done
