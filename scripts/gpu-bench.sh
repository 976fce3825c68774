#!/bin/sh
# Measures the cuda backend: scripts/bench.lua, every case at height 1 and at its own height, large grids;
# then small grids that fit on chip. Needs a finished build: sh scripts/gpu-bench.sh [BUILD_FOLDER]
#
# CASES and SMALL (lists of cases; - for none) select cases.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${1:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
bench() {
    number=$((number + 1))
    "$build/bin/trapeze" run "$root/scripts/bench.lua" --backend cuda --quiet --out "$work/$number" \
        --set seconds=0.2 "$@" >"$work/table" || return 1
    [ $number = 1 ] && head -n 1 "$work/table"
    tail -n +2 "$work/table"
}
"$build/bin/trapeze" doctor | grep -E 'GPU 0|driver' | sort -u
for case in ${CASES:-star2d1r star2d1r-fp64 star2d2r star2d2r-fp64 box2d1r box2d1r-fp64 box2d2r hotspot \
    poisson star3d1r star3d1r-fp64 star3d2r box3d1r box3d1r-fp64 life cell pathfinder}; do
    case $case in
    -) ;;
    star2d* | box2d* | hotspot | poisson)
        bench --set "case=$case" --set grid=16384,16384 --set heights=1,auto ;;
    star3d* | box3d*) bench --set "case=$case" --set grid=768,768,768 --set heights=1,auto ;;
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
