#!/bin/sh
# The stencils of scripts/class_stencils.lua on this CPU against plain OpenMP loops over the same cell texts
# (tests/bench/plain_text.c), with the flags of plugins and -march=native, run alternately:
#
#   sh scripts/classes_cpu.sh [ROUNDS]
#
# Prints medians in GCells/s and the ratio round by round. Grids are far larger than caches. Environment variables:
# THREADS of both, CLASSES (only these), BUILD (a build folder), N2 and N3 (the side of a grid in 2-D and 3-D).
set -eu
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
trapeze=${BUILD:-$root/build}/bin/trapeze
rounds=${1:-5}
threads=${THREADS:-$(nproc)}
[ -x "$trapeze" ] || { echo "classes_cpu: there is no $trapeze: build first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$trapeze" run "$root/scripts/classes_cpu.lua" --set texts=true --quiet --out "$work/texts" |
    awk -v work="$work" '/^@@@/ { file = $2 ? work "/" $2 ".cell.h" : ""; next } file { print > file }'

# plain NAME DIMENSIONS OPTION…: the loops of a class.
plain() {
    name=$1 dims=$2
    shift 2
    ${CC:-cc} -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp -I"$root/core/include" \
        -DTEXT="\"$work/$name.cell.h\"" -DDIMS="$dims" "$@" "$root/tests/bench/plain_text.c" -o "$work/$name"
}
middle() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

grep -m 1 'model name' /proc/cpuinfo || true
uptime
printf '%-14s %-12s %7s %8s %8s %6s  %s\n' class grid threads plain trapeze ratio 'ratios; plan'
for name in ${CLASSES:-coefficients3d d2q9 reaction maxwell automaton acoustic2 acoustic8}; do
    n2=${N2:-4096} n3=${N3:-384}
    case $name in
    coefficients3d) plain "$name" 3 '-DPASSES=P(update)' '-DWRITTEN=1u << FIELD_u' ;;
    d2q9) plain "$name" 2 '-DPASSES=P(update)' '-DWRITTEN=511u' ;; # f0 to f8
    reaction) plain "$name" 2 '-DPASSES=P(update)' '-DWRITTEN=3u' ;; # u and v
    maxwell) plain "$name" 2 '-DPASSES=P(update) P(update_2)' -DIN_PLACE ;;
    automaton) plain "$name" 2 '-DPASSES=P(update)' '-DWRITTEN=1u' ;;
    acoustic*) plain "$name" 3 '-DPASSES=P(update)' -DNEWEST=FIELD_u -DOLDEST=FIELD_old '-DPUT_u(v)=old_out[i]=(v)' \
        '-DPUT_old(v)=(void)0' ;;
    *) echo "classes_cpu: no class '$name'" >&2; exit 2 ;;
    esac
    case $name in
    coefficients3d | acoustic*) grid="$n3 $n3 $n3" commas=$n3,$n3,$n3 ;;
    *) grid="$n2 $n2 1" commas=$n2,$n2 ;;
    esac
    : >"$work/p" >"$work/t" >"$work/r"
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        # shellcheck disable=SC2086
        slow=$("$work/$name" $grid 4 "$threads")
        "$trapeze" run "$root/scripts/classes_cpu.lua" --quiet --out "$work/run" --set "class=$name" \
            --set "grid=$commas" --set "threads=$threads" --set rounds=3 --set steps=16 >"$work/line"
        rm -rf "$work/run"
        fast=$(cut -f1 "$work/line")
        echo "$slow" >>"$work/p"
        echo "$fast" >>"$work/t"
        awk -v a="$fast" -v b="$slow" 'BEGIN {printf "%.2f\n", a / b}' >>"$work/r"
    done
    printf '%-14s %-12s %7d %8s %8s %6s  %s; %s\n' "$name" "$commas" "$threads" "$(middle <"$work/p")" \
        "$(middle <"$work/t")" "$(middle <"$work/r")" "$(sort -n "$work/r" | tr '\n' ' ')" "$(cut -f2 "$work/line")"
done
