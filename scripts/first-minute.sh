#!/bin/sh
# Measures how soon a run on a GPU begins, and how soon it is fast, with an empty cache and with a warm one.
#
#   sh scripts/first-minute.sh [TRAPEZE]     the program (default: build/bin/trapeze); prints tables
#
# Variables: PART=k/n does the k-th of n parts, and FOLDER keeps their rows: the last part prints all tables. ROWS has the
# rows: "shipped" (whole scenarios, by auto, with the GPU, and with the CPU), "first" (wall milliseconds to the end of the
# first iteration of the stencils of unseen_stencils.lua), "speed" (GCells/s after SECONDS_A_RUN, default 30, then in the
# first second of the next run), "predicted" (all plans of the stencils that kernels were not tuned to: how good is the
# predicted one), or cases alone: "speed:yee". TURNS is how often "first" is measured (default 5, the median
# counts). BEST=yes adds the speed of the fastest plan that the policy exhaustive finds.
set -eu
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
trapeze=${1:-$root/build/bin/trapeze}
rows=${ROWS:-shipped first speed predicted}
part=${PART:-1/1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${FOLDER:-$work/rows}
mkdir -p "$folder"
export TRAPEZE_CACHE="$work/cache"
number=0

shipped='hotspot life lbm grayscott wave cell poisson pathfinder cyclic hotspot3d chip'
unseen='yee d3q19 perona harmonic shallow grayscott27 euler elastic kuramoto lenia forest ising cahn fitzhugh upwind'
apart='lenia forest cahn fitzhugh upwind' # nothing was tuned to these

# run SCRIPT OPTION...: its wall milliseconds; its text is in $work/text.
run() {
    number=$((number + 1))
    script=$1
    shift
    begin=$(date +%s%N)
    "$trapeze" run "$root/scripts/$script" --quiet --out "$work/$number" "$@" >"$work/text" 2>&1 || echo failed >>"$work/text"
    echo $((($(date +%s%N) - begin) / 1000000))
    rm -rf "${work:?}/$number"
}
forget() { rm -rf "$TRAPEZE_CACHE"; }
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# The speed and the plan of the last line of a run, or of its first one.
speed() { awk '/GCells/ { sub(/.*: +/, ""); print }' "$work/text" | "$1" -n 1; }

measure_shipped() {
    forget
    cold=$(run "$1.lua")
    warm=$(run "$1.lua")
    forget
    gpu_cold=$(run "$1.lua" --backend cuda)
    gpu=$(run "$1.lua" --backend cuda)
    cpu=$(run "$1.lua" --backend cpu)
    echo "| $1 | $cold | $warm | $gpu_cold | $gpu | $cpu |"
}
measure_first() {
    : >"$work/cold"
    : >"$work/warm"
    for turn in $(seq "${TURNS:-5}"); do
        forget
        run first_minute.lua --backend cuda --set "case=$1" >>"$work/cold"
        run first_minute.lua --backend cuda --set "case=$1" >>"$work/warm"
    done
    echo "| $1 | $(median <"$work/cold") | $(median <"$work/warm") | $(speed head) |"
}
measure_speed() {
    forget
    run first_minute.lua --backend cuda --set "case=$1" --set "seconds=${SECONDS_A_RUN:-30}" >"$work/ms"
    after=$(speed tail)
    run first_minute.lua --backend cuda --set "case=$1" --set seconds=2 >"$work/ms"
    again=$(speed tail)
    best=-
    if [ "${BEST:-no}" = yes ]; then
        run first_minute.lua --backend cuda --policy exhaustive --set "case=$1" --set seconds=20 >"$work/ms"
        best=$(speed tail)
    fi
    echo "| $1 | $after | $again | $best |"
}

measure_predicted() {
    "$trapeze" run "$root/scripts/first_minute.lua" --quiet --out "$work/tune" --set "case=$1" --set tune=yes \
        --set "threads=$(nproc)" 2>"$work/text" || sed 's/^/failed: /' "$work/text"
    rm -rf "$work/tune"
}

at=0
for row in $rows; do
    kind=${row%%:*}
    case $row in
    *:*) cases=${row#*:} ;;
    shipped) cases=$shipped ;;
    predicted) cases=$apart ;;
    *) cases=$unseen ;;
    esac
    for case in $cases; do
        at=$((at + 1))
        [ $((at % ${part#*/})) -eq $((${part%/*} % ${part#*/})) ] || continue
        "measure_$kind" "$case" | tee "$folder/$kind.$(printf %03d $at)"
    done
done
[ "${part%/*}" = "${part#*/}" ] || exit 0

echo
echo "empty CUDA programs take some 0.3 s of each of these times; $(nproc) processors"
for kind in shipped first speed predicted; do
    ls "$folder/$kind".* >/dev/null 2>&1 || continue
    echo
    case $kind in
    shipped) echo '| scenario, ms | auto, cold | warm | cuda, cold | warm | cpu |' ;;
    first) echo '| first iteration, ms | cold | warm | its speed and plan |' ;;
    speed) echo "| GCells/s | after ${SECONDS_A_RUN:-30} s | the next run | the best plan |" ;;
    predicted) echo '| GCells/s | the best plan | the predicted one | share | median error | 90 % | least share, heights 1 to 6 |' ;;
    esac
    case $kind in
    shipped) echo '|---|---|---|---|---|---|' ;;
    predicted) echo '|---|---|---|---|---|---|---|' ;;
    *) echo '|---|---|---|---|' ;;
    esac
    cat "$folder/$kind".*
done
