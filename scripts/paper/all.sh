#!/bin/sh
# Runs the experiments of the papers, one after the other, in a new folder, and writes docs/papers.md with what they print.
#
#   sh scripts/paper/all.sh [BUILD_FOLDER] [ARGUMENTS FOR trapeze run, as --backend cpu]
#
# First what models alone say, with the papers' devices and the record of an H200: five minutes, most of it to compile
# kernels for the H200. MODELS=no skips that, MODELS=quick leaves out what compiles kernels. Then measurements on this machine: on
# its GPU, if it has one (GPU=no skips that), and on its CPU (CPU=no skips that). LIMIT=60 ends each experiment after so many
# seconds. Prints what it skips and why, and at the end the folder. The logs hold the numbers; pictures need gnuplot.
#
# The page keeps measured parts of the machine that they name. KEEP=yes puts those of this run in their place
# (scripts/paper/measured), with date, machine and commit.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=$root/build
[ $# -gt 0 ] && [ -d "$1" ] && { build=$1; shift; }
trapeze=$build/bin/trapeze

number=1
while [ -e "runs/paper-$(printf %03d $number)" ]; do number=$((number + 1)); done
out=${OUT:-runs/paper-$(printf %03d $number)}
mkdir -p "$out"
limit=
[ -z "${LIMIT:-}" ] || limit="timeout $LIMIT"

failed=0
run() { # run NAME SCRIPT ARGUMENT…
    name=$1 script=$2
    shift 2
    echo "== $name"
    $limit "$trapeze" run "$root/scripts/paper/$script.lua" --quiet --out "$out/$name" "$@" || failed=$((failed + 1))
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
    for part in heights figure6 figure7 figure8 sensitivity variants luo_equations tabik_sets; do run $part $part "$@"; done
    run fence fence --set device=h200 "$@"
else
    echo "== models: skipped, MODELS=no"
fi
if [ "${MODELS:-yes}" = yes ]; then
    run thesis_gpus-h200 thesis_gpus --set device=h200 --set family=tile "$@"
    run thesis_augment-h200 thesis_augment --set device=h200 --set n2=8192 --set n3=512 "$@"
    run thesis_forms-h200 thesis_forms --set device=h200 "$@"
    tabik gx 256 gtx-titan
    tabik gx 256 gtx480
    tabik gx 512 gtx480
    for stencil in gy gz st fdd5 fdd7; do tabik $stencil 256 gtx-titan; done
    for test in policy published tabik2015 luo2011; do check papers test_papers_$test; done
fi
if "$trapeze" doctor --verbose | grep -q 'cuda: .*(not on this machine)'; then
    echo "== GPU: skipped, there is none that the cuda backend can use (trapeze doctor prints why)"
elif [ "${GPU:-yes}" = no ]; then
    echo "== GPU: skipped, GPU=no"
else
    run table54-gpu table54 --backend cuda "$@"
    run table54-gpu-4 table54 --backend cuda --set scale=4 "$@"
    run whole-gpu whole "$@"
    run luo_accuracy-gpu luo_accuracy --backend cuda "$@"
    for part in fence figure5 figure4 energy; do run "$part-gpu" "$part" --backend cuda "$@"; done
    run thesis_augment-gpu thesis_augment --backend cuda --set n2=8192 --set n3=512 "$@"
    run thesis_forms-gpu thesis_forms "$@"
    [ -n "$limit" ] || run tabik_blocks-gpu tabik_blocks "$@"
fi
if [ "${CPU:-yes}" != no ]; then
    for part in table54 figure5 figure4; do run "$part-cpu" "$part" --backend cpu "$@"; done
    run thesis_augment-cpu thesis_augment --backend cpu "$@"
else
    echo "== CPU: skipped, CPU=no"
fi
if [ "${KEEP:-no}" = yes ]; then
    machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1) || machine=
    cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1)
    commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
    day=$(date -u +%F)
    for log in "$out"/*-gpu*/log.txt; do [ ! -f "$log" ] || sh "$root/scripts/paper/page.sh" --keep "$day, $machine, commit $commit" "$log"; done
    for log in "$out"/*-cpu*/log.txt; do [ ! -f "$log" ] || sh "$root/scripts/paper/page.sh" --keep "$day, $cpu, commit $commit" "$log"; done
    for log in "$out"/*-h200/log.txt; do [ ! -f "$log" ] || sh "$root/scripts/paper/page.sh" --keep "$day, predicted by the record h200, commit $commit" "$log"; done
fi
if [ "${MODELS:-yes}" != no ]; then
    for page in papers.md log/papers.md; do
        PAGE=$root/docs/$page sh "$root/scripts/paper/page.sh" "$out"/*/log.txt >"$out/page.md" && cp "$out/page.md" "$root/docs/$page"
    done
fi
echo "$out"
[ $failed = 0 ] || { echo "$failed of the experiments failed: see above" >&2; exit 1; }
