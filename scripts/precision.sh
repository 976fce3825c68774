#!/bin/sh
# Single precision against double: runs every scenario and a case for every stencil in both and prints the
# table of docs/log/precision.md. Exits 1 if a cell differs by more than a thousandth of its scenario's range.
#
#   sh scripts/precision.sh [--quick] [TRAPEZE]   without TRAPEZE it builds first; --quick: small grids, a test
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
quick=
[ "${1:-}" != --quick ] || { quick=yes; shift; }
if [ $# -gt 0 ]; then
    trapeze=$1
else
    target=all
    . "$root/scripts/build.sh"
    trapeze=$build/bin/trapeze
fi
case $trapeze in /*) ;; *) trapeze=$(pwd)/$trapeze ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-precision.XXXXXX")
trap 'rm -rf "$work"' EXIT
# precision.lua requires scenarios from its own folder.
cp -R "$root"/scripts/*.lua "$root"/scripts/chip.* "$root"/scripts/patterns "$root"/examples/first.lua \
    "$root"/examples/heat/heat.lua "$work"
cd "$work"
export TRAPEZE_PLUGIN_PATH="${trapeze%/bin/trapeze}/example-plugins"
failed=0

one() { # one ARGUMENT…
    "$trapeze" run precision.lua -q --out out "$@" || failed=1
    rm -rf out
}

echo "| scenario | simulation | grid | steps | largest difference | range | share |"
echo "|---|---|---|---|---|---|---|"
if [ "$quick" ]; then
    one --set scenario=hotspot --set n=96 --set within=0.002
    one --set scenario=first --set size=64 --set steps=500
    one --set scenario=heat --set seconds=0.2
    one --set scenario=grayscott --set pattern=coral --set n=48 --set steps=1000
    one --set scenario=wave --set nx=80 --set ny=64 --set time=0.1 --set cube=16
    one --set scenario=lbm --set nx=120 --set ny=40 --set steps=1000
    one --set scenario=hotspot3d --set n=16 --set time=0.001
    one --set case=uniform --set n=8 --set steps=200000
    few="--set n=24 --set steps=400"
else
    one --set scenario=hotspot --set within=0.002
    for scenario in jacobi poisson first heat wave hotspot3d life cell pathfinder cyclic; do
        one --set scenario=$scenario
    done
    # Growing patterns and vortices enlarge any difference: they are compared early, and the pattern "chaos" not at all.
    one --set scenario=lbm --set steps=6000
    for pattern in coral mitosis mazes solitons holes worms; do
        one --set scenario=grayscott --set pattern=$pattern --set steps=2000
    done
    one --set case=uniform --set steps=200000
    few=
fi
for stencil in hotspot heat poisson star2d1r star2d2r box2d1r box2d2r star3d1r star3d2r box3d1r; do
    # shellcheck disable=SC2086
    one --set case=$stencil $few
done
exit $failed
