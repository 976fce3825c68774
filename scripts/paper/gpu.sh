#!/bin/sh
# The measured rows of docs/papers.md that need a GPU, within about seven minutes: for a machine that is lent for a short time.
#
#   OUT=FOLDER sh scripts/paper/gpu.sh BUILD_FOLDER
#
# The logs are files of FOLDER, and are printed; `sh scripts/paper/page.sh --keep "DATE, MACHINE, commit COMMIT" FOLDER/*.txt`
# puts them in the page. First kernels are compiled, all experiments side by side; then each is measured alone. Each has its own limit, and none
# stops the others.
set -u
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd -P)
trapeze=$1/bin/trapeze
: "${OUT:?}" "${SECONDS_IN_ALL:=405}"
begin=$(date +%s)
work=$(mktemp -d)
export TRAPEZE_CACHE="${TRAPEZE_CACHE:-${TMPDIR:-/tmp}/paper-cache}" TRAPEZE_DEVICES="$work/devices"
mkdir -p "$work/devices" "$work/warm"

left() { echo $((SECONDS_IN_ALL - $(date +%s) + begin)); }

run() { # run LIMIT NAME SCRIPT ARGUMENT…
    limit=$1 name=$2 script=$3
    shift 3
    rest=$(left)
    [ "$limit" -lt "$rest" ] || limit=$rest
    [ "$limit" -gt 3 ] || { echo "$name: no time left"; return; }
    timeout "$limit" "$trapeze" run "$root/scripts/paper/$script.lua" --quiet --out "$work/$name" "$@" >"$work/$name.out" 2>&1
    echo "$name: exit $?, $(left) s left"
    case $name in
    warm/*) ;;
    *) [ ! -f "$work/$name/log.txt" ] || cp "$work/$name/log.txt" "$OUT/$name.txt" ;;
    esac
}

for only in pathfinder hotspot poisson cell; do
    run 120 warm/table54-$only table54 --backend cuda --set rounds=1 --set only=$only &
    run 120 warm/table54-4-$only table54 --backend cuda --set rounds=1 --set scale=4 --set only=$only &
    run 120 warm/whole-$only whole --set only=$only &
done
run 120 warm/fence fence --backend cuda &
run 120 warm/augment thesis_augment --backend cuda --set n2=8192 --set n3=512 &
wait
run 60 table54-gpu table54 --backend cuda
run 60 table54-gpu-4 table54 --backend cuda --set scale=4
run 45 whole-gpu whole
timeout 45 "$trapeze" calibrate --costs --seconds 10 --force >"$work/calibrate.out" 2>&1
echo "calibrate: exit $?, $(left) s left"
run 70 luo_accuracy-gpu luo_accuracy --backend cuda --set compare=no
run 25 fence-gpu fence --backend cuda
run 45 figure5-gpu figure5 --backend cuda --set rounds=3
run 45 thesis_augment-gpu thesis_augment --backend cuda --set n2=8192 --set n3=512
run 60 thesis_forms-gpu thesis_forms
run 60 energy-gpu energy --backend cuda
run 70 figure4-gpu figure4 --backend cuda
cp "$work"/devices/*.txt "$OUT/record" 2>/dev/null
cat "$OUT"/*.txt
rm -rf "$work"
