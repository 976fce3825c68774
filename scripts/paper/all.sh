#!/bin/sh
# Runs the experiments of Meng and Skadron (ICS 2009), one after the other, in a new folder:
#
#   sh scripts/paper/all.sh [BUILD_FOLDER] [ARGUMENTS FOR trapeze run, as --backend cpu]
#
# Figures 4 and 5 and the table of section 5.4 are measured on this machine: on its GPU, if it has one (GPU=no
# skips that), and on its CPU. Figures 6 to 8 come from the paper's model alone. Prints what it skips and why, and
# at the end the folder. The logs hold the numbers; pictures need gnuplot.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=$root/build
[ $# -gt 0 ] && [ -d "$1" ] && { build=$1; shift; }
trapeze=$build/bin/trapeze

number=1
while [ -e "runs/paper-$(printf %03d $number)" ]; do number=$((number + 1)); done
out=runs/paper-$(printf %03d $number)
mkdir -p "$out"

failed=0
run() { # run NAME SCRIPT ARGUMENT…
    name=$1 script=$2
    shift 2
    echo "== $name"
    if "$trapeze" run "$root/scripts/paper/$script.lua" --quiet --out "$out/$name" "$@"; then
        cat "$out/$name/log.txt"
    else
        failed=$((failed + 1))
    fi
}

for figure in 6 7 8; do run "figure$figure" "figure$figure" "$@"; done
if "$trapeze" doctor | grep -q 'cuda: .*(not on this machine)'; then
    echo "== GPU: skipped, there is none that the cuda backend can use (trapeze doctor prints why)"
elif [ "${GPU:-yes}" = no ]; then
    echo "== GPU: skipped, GPU=no"
else
    for part in figure4 figure5 table54; do run "$part-gpu" "$part" --backend cuda "$@"; done
    run table54-gpu-large table54 --backend cuda --set scale=4 "$@"
fi
for part in figure4 figure5 table54; do run "$part-cpu" "$part" --backend cpu "$@"; done
echo "$out"
[ $failed = 0 ] || { echo "$failed of the experiments failed: see above" >&2; exit 1; }
