#!/bin/sh
# Measures a grid on several devices against one: the GPUs of this machine, or slabs on its CPU where there are none.
#
#   sh scripts/multi-gpu.sh [BUILD_FOLDER]
#
#   weak       the grid grows with the devices: speed of each against one alone
#   strong     the same grid on more devices
#   mpirun     as many ranks, one device each, against one process
#   threads    CPU only: slabs of one thread each against one process of as many threads
#
# Each case is also held against one device: after 24 iterations the field has the same hash. Speeds are medians of
# ROUNDS (5) rounds of SECONDS_A_ROUND (0.5). Variables: KIND (gpu or cpu; default: gpu if there are two), COUNTS ("2 4", as
# far as there are devices; KIND=cpu COUNTS=8 makes eight slabs of threads on any machine, where speeds mean little beyond
# its cores, and bits as much), GRID2 and GRID3 (cells along an axis on a device), STRONG2, STRONG3 and SMALL2 (of
# the strong cases), ONLY (weak strong mpirun threads). The last column is what `trapeze predict` says, where a record describes the
# device. Exits with 1 if a hash differs or a run fails; says what it skips and why.
set -u
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
trapeze=${1:-$root/build}/bin/trapeze
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=${ROUNDS:-5} seconds=${SECONDS_A_ROUND:-0.5}
failed=0 number=0

gpus=$("$trapeze" doctor --verbose 2>/dev/null | grep -oE '^ *GPU [0-9]+' | sort -u | wc -l) # several lines tell of each
cores=$(nproc)
kind=${KIND:-$([ "$gpus" -ge 2 ] && echo gpu || echo cpu)}
if [ "$kind" = gpu ]; then
    most=$gpus grid2=${GRID2:-16384} grid3=${GRID3:-768} small2=${SMALL2:-4096} strong2=${STRONG2:-16384} strong3=${STRONG3:-1024}
else
    most=$cores grid2=${GRID2:-2048} grid3=${GRID3:-192} small2=${SMALL2:-512} strong2=${STRONG2:-2048} strong3=${STRONG3:-256}
fi
# More ranks than cores, with Open MPI 4 and 5.
[ "$kind" = cpu ] && export OMPI_MCA_rmaps_base_oversubscribe=true PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
counts=
for n in ${COUNTS:-2 4}; do
    if [ "$n" -le "$most" ] || { [ "${KIND:-}" = cpu ] && [ -n "${COUNTS:-}" ]; }; then counts="$counts $n"; else echo "skipped: $n devices, this machine has $most ($kind)"; fi
done
[ -n "$counts" ] || { echo "skipped: one device ($kind) has nothing to share"; exit 0; }

# devices N: options for N of them, a thread each on a CPU; one-process N: one CPU process of N threads.
devices() {
    if [ "$kind" = gpu ]; then
        [ "$1" = 1 ] && echo "--device 0" || echo "--devices $(seq -s, 0 $(($1 - 1)))"
    else
        [ "$1" = 1 ] && echo "--backend cpu --threads 1" || echo "--devices cpu:$1 --threads $1"
    fi
}

# measure LAUNCHER OPTIONS PLUGIN GRID: a line of scripts/scaling.lua in $line.
measure() {
    number=$((number + 1))
    # shellcheck disable=SC2086
    if ! $1 "$trapeze" run "$root/scripts/scaling.lua" --quiet --out "$work/$number" $2 --set "plugin=$3" --set "grid=$4" \
        --set "rounds=$rounds" --set "seconds=$seconds" >"$work/line" 2>"$work/err"; then
        echo "FAILED: $3 on $4 ($2): $(grep -v -e ---- -e '^$' "$work/err" | head -n 3 | tr '\n' ' ')"
        failed=1
        return 1
    fi
    line=$(grep -E "^$3 " "$work/line" | tail -n 1)
}
field() { echo "$line" | cut -d' ' -f"$1"; }

# predicted N PLUGIN GRID: GCells/s of the best plan, or - without a record.
predicted() {
    options=$([ "$kind" = gpu ] && echo "--backend cuda" || echo "--backend cpu")
    [ "$kind" = gpu ] && [ "$1" -gt 1 ] && options="$options --devices $1"
    [ "$kind" = cpu ] && { [ "$1" -gt 1 ] && options="--devices cpu:$1 --threads $1" || options="$options --threads 1"; }
    # shellcheck disable=SC2086
    "$trapeze" predict "$2" --grid "$3" $options 2>/dev/null |
        sed -n 's/.* an iteration, \([^ ]*\) GCells\/s.*/\1/p' | head -n 1 | grep . || echo -
}

# one_device PLUGIN GRID: the line of one device in $one; measured once.
one_device() {
    key="$work/one-$1-$2"
    if [ ! -s "$key" ]; then
        measure "" "$(devices 1)" "$1" "$2" || return 1
        echo "$line" >"$key"
    fi
    one=$(cat "$key")
}

print_row() { # EXPERIMENT N PLUGIN GRID EFFICIENCY
    alone_hash=$(echo "$one" | cut -d' ' -f7)
    bits=same
    [ "$alone_hash" = "$(field 7)" ] || { bits=OTHER failed=1; }
    printf '%-8s %2d  %-10s %-18s %9s  %6s %%  %-5s %-18s %9s\n' "$1" "$2" "$3" "$4" "$(field 4)" "$5" "$bits" "$(field 8)" \
        "$(predicted "$2" "$3" "$4")"
}
percent() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.1f", 100 * a / b}'; }
wanted() { case " ${ONLY:-weak strong mpirun threads} " in *" $1 "*) ;; *) return 1 ;; esac; }

# longer GRID N: the grid N times as long along its last axis.
longer() { echo "$1" | awk -F, -v n="$2" '{$NF *= n; print}' OFS=,; }

echo "$("$trapeze" --version 2>/dev/null | head -n 1), $kind, counts$counts, medians of $rounds rounds of $seconds s"
printf '%-8s %2s  %-10s %-18s %9s  %8s  %-5s %-18s %9s\n' case n stencil grid GCells/s speed bits plan predicted
for n in $counts; do
    if wanted weak; then
        for case in star2d1r:$grid2,$grid2 hotspot:$grid2,$grid2 star3d1r:$grid3,$grid3,$grid3; do
            plugin=${case%%:*} grid=${case#*:}
            one_device "$plugin" "$grid" || continue
            alone=$(echo "$one" | cut -d' ' -f4)
            large=$(longer "$grid" "$n")
            one_device "$plugin" "$large" || continue
            measure "" "$(devices "$n")" "$plugin" "$large" &&
                print_row weak "$n" "$plugin" "$large" "$(percent "$(field 4)" "$(awk -v a="$alone" -v n="$n" 'BEGIN {print a * n}')")"
        done
    fi
    if wanted strong; then
        for case in star2d1r:$strong2,$strong2 star3d1r:$strong3,$strong3,$strong3 star2d1r:$small2,$small2; do
            plugin=${case%%:*} grid=${case#*:}
            one_device "$plugin" "$grid" || continue
            alone=$(echo "$one" | cut -d' ' -f4)
            measure "" "$(devices "$n")" "$plugin" "$grid" &&
                print_row strong "$n" "$plugin" "$grid" "$(percent "$(field 4)" "$(awk -v a="$alone" -v n="$n" 'BEGIN {print a * n}')")"
        done
    fi
    if wanted mpirun; then
        grid=$grid2,$grid2
        if ! command -v mpirun >/dev/null 2>&1; then
            echo "skipped: mpirun, it is not installed"
        elif one_device star2d1r "$grid" && measure "" "$(devices "$n")" star2d1r "$grid"; then
            process=$(field 4)
            options=$([ "$kind" = gpu ] && echo "--backend cuda" || echo "--backend cpu --threads 1")
            if measure "mpirun -n $n" "$options" star2d1r "$grid"; then
                print_row mpirun "$n" star2d1r "$grid" "$(percent "$(field 4)" "$process")"
                "$trapeze" explain "$work/$number" 2>/dev/null | sed -n 's/^ *between ranks/            between ranks/p' | sort -u
            fi
        fi
    fi
    if wanted threads && [ "$kind" = cpu ]; then
        for case in star2d1r:$grid2,$grid2 star3d1r:$grid3,$grid3,$grid3; do
            plugin=${case%%:*} grid=${case#*:}
            one_device "$plugin" "$grid" || continue
            measure "" "--backend cpu --threads $n" "$plugin" "$grid" || continue
            process=$(field 4)
            measure "" "$(devices "$n")" "$plugin" "$grid" &&
                print_row threads "$n" "$plugin" "$grid" "$(percent "$(field 4)" "$process")"
        done
    fi
done
[ "$number" -gt 0 ] || { echo "multi-gpu.sh: nothing was measured: ONLY=${ONLY:-}" >&2; exit 2; }
exit $failed
