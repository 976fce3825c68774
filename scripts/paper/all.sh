#!/bin/sh
# Runs the experiments of the papers, one after the other, in a new folder: every number and plot of docs/papers.md.
#
#   sh scripts/paper/all.sh [BUILD_FOLDER] [ARGUMENTS FOR trapeze run, as --backend cpu]
#
# First what models alone say, with the papers' devices and the record of an H200: five minutes, most of it to compile
# kernels for the H200. MODELS=no skips that. Then measurements on this machine: on its GPU, if it has one (GPU=no skips
# that), and on its CPU (CPU=no skips that). Prints what it skips and why, and at the end the folder. The logs hold the
# numbers; pictures need gnuplot.
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
    "$trapeze" run "$root/scripts/paper/$script.lua" --quiet --out "$out/$name" "$@" || failed=$((failed + 1))
    [ ! -f "$out/$name/log.txt" ] || cat "$out/$name/log.txt"
}

predict() { # predict NAME STENCIL ARGUMENT…: whole in NAME.txt, its facts printed
    name=$1
    shift
    echo "== $name"
    { "$trapeze" predict "$@" --verbose >"$out/$name.txt" && grep -E 'chosen: |an iteration|  P  |CPD  ' "$out/$name.txt"; } ||
        failed=$((failed + 1))
}

check() { # check FOLDER TEST: the papers' numbers that a test compares
    program=$build/test-bin/tests_$1
    shift
    echo "== $1"
    if [ ! -x "$program" ]; then
        echo "skipped: $build has no tests"
    elif ! "$program" "$1" >"$out/$1.txt" 2>&1; then
        tail -20 "$out/$1.txt"
        failed=$((failed + 1))
    else
        grep 'test(s) run' "$out/$1.txt"
    fi
}

tabik() { # tabik STENCIL N DEVICE
    predict "tabik-$1-$2-$3" "$1" --grid "$2,$2,$2" --model tabik2015 --device "$3" --plot "$out/tabik-$1-$2-$3.png"
}

if [ "${MODELS:-yes}" != no ]; then
    for part in figure6 figure7 figure8 sensitivity variants; do run $part $part "$@"; done
    for part in fence energy; do run "$part-h200" $part --set device=h200 "$@"; done
    run thesis_gpus-h200 thesis_gpus --set device=h200 --set family=tile "$@"
    run thesis_augment-h200 thesis_augment --set device=h200 --set n2=8192 --set n3=512 "$@"
    tabik gx 256 gtx-titan
    tabik gx 256 gtx480
    tabik gx 512 gtx480
    for stencil in gy gz st fdd5 fdd7; do tabik $stencil 256 gtx-titan; done
    for test in policy published tabik2015 luo2011; do check papers test_papers_$test; done
    predict luo-box2d1r box2d1r --grid 800,800 --model luo2011 --device gtx260
else
    echo "== models: skipped, MODELS=no"
fi
if "$trapeze" doctor --verbose | grep -q 'cuda: .*(not on this machine)'; then
    echo "== GPU: skipped, there is none that the cuda backend can use (trapeze doctor prints why)"
elif [ "${GPU:-yes}" = no ]; then
    echo "== GPU: skipped, GPU=no"
else
    for part in figure4 figure5 table54 fence energy; do run "$part-gpu" "$part" --backend cuda "$@"; done
    run table54-gpu-large table54 --backend cuda --set scale=4 "$@"
    run thesis_augment-gpu thesis_augment --backend cuda --set n2=8192 --set n3=512 "$@"
    run luo_accuracy-gpu luo_accuracy --backend cuda "$@"
    run tabik_blocks-gpu tabik_blocks "$@"
fi
if [ "${CPU:-yes}" != no ]; then
    for part in figure4 figure5 table54; do run "$part-cpu" "$part" --backend cpu "$@"; done
    run thesis_augment-cpu thesis_augment --backend cpu "$@"
else
    echo "== CPU: skipped, CPU=no"
fi
echo "$out"
[ $failed = 0 ] || { echo "$failed of the experiments failed: see above" >&2; exit 1; }
