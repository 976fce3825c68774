#!/bin/sh
# Measures jumps in the frequency domain against stepping, on a GPU or a CPU:
#
#   sh scripts/jump.sh cuda|cpu [BUILD_FOLDER]
#
# Each line is a case of scripts/jump_rate.lua: one jump (median of ROUNDS, the library's plans made), one iteration
# with the plan that the policy chooses, how many times faster the jump is than its steps, and from how many steps on
# it is faster. A steady state is given as the mean of ROUNDS. The last column is the goal. Variables: ROUNDS (5),
# SECONDS_A_ROUND (0.5, of stepping), ONLY (some of: heat clamp cube hotspot), SCALE (1; 8 divides each extent by 8, for
# a trial). Exits with 1 if a case fails.
set -u
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
backend=${1:-}
case $backend in
cuda | cpu) ;;
*)
    echo "jump.sh: say cuda or cpu" >&2
    exit 2
    ;;
esac
trapeze=${2:-$root/build}/bin/trapeze
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=${ROUNDS:-5} seconds=${SECONDS_A_ROUND:-0.5} scale=${SCALE:-1} failed=0 number=0
if [ "$backend" = cuda ]; then
    heat=16384 cube=512 chip=4096
    heat_goal='10^4 >= 50 x, 10^6 >= 5000 x, from <= 200' cube_goal='<= 25 ms' chip_goal='<= 5 ms'
else
    heat=4096 cube=256 chip=1024
    heat_goal='10^4 >= 20 x' cube_goal=- chip_goal=-
fi
heat=$((heat / scale)) cube=$((cube / scale)) chip=$((chip / scale))

wanted() { case " ${ONLY:-heat clamp cube hotspot} " in *" $1 "*) ;; *) return 1 ;; esac; }

# measure GOAL NAME=VALUE...: rows of the table.
measure() {
    goal=$1
    shift
    number=$((number + 1))
    set -- $(for pair in "$@"; do printf -- '--set %s ' "$pair"; done)
    if ! "$trapeze" run "$root/scripts/jump_rate.lua" --quiet --backend "$backend" --out "$work/$number" "$@" \
        --set "rounds=$rounds" --set "seconds=$seconds" >"$work/lines" 2>"$work/err"; then
        echo "FAILED: $*: $(grep -v -e ---- -e '^$' "$work/err" | head -n 3 | tr '\n' ' ')"
        failed=1
        return
    fi
    all=$(sed -n '/"jump": {/,/}/s/.*"seconds": \([^,]*\),.*/\1/p' "$work/$number/run.json" | head -n 1)
    library=$(sed -n '/"jump": {/,/}/s/.*"library": "\([^"]*\)".*/\1/p' "$work/$number/run.json" | head -n 1)
    awk -v goal="$goal" -v all="$all" -v library="$library" '
        $1 == "steady" {
            printf "%-9s %-14s %-9s %-7s %8s  %10.4g  %10s  %-16s %9s  %8s  residual %s; %s\n", stencil, grid, sides, precision,
                "steady", 1e3 * (all - $4) / $3, "", "", "", "", $2, goal
            next
        }
        {
            stencil = $1; grid = $2; sides = $3; precision = $4
            printf "%-9s %-14s %-9s %-7s %8d  %10.4g  %10.4g  %-16s %9.4g  %8.4g  %s\n", $1, $2, $3, $4, $5, 1e3 * $6,
                1e6 * $9, $10, $5 * $9 / $6, $6 / $9, goal
        }
        END { if (!told[library]++) printf "library: %s\n", library >"/dev/stderr" }' "$work/lines" 2>>"$work/libraries"
}

"$trapeze" doctor --verbose 2>/dev/null | grep -E '^ *(GPU 0:|CUDA driver|cuFFT|FFTW|AMD|Intel)|cores' | sed 's/^ */  /'
printf '%-9s %-14s %-9s %-7s %8s  %10s  %10s  %-16s %9s  %8s  %s\n' stencil grid sides type steps 'jump ms' 'step us' plan \
    'faster x' 'from n' goal
wanted heat && measure "$heat_goal" plugin=star2d1r "grid=$heat,$heat" boundary=periodic steps=10000,1000000
wanted clamp && measure - plugin=star2d1r "grid=$heat,$heat" boundary=clamp steps=100,10000
wanted cube && measure "$cube_goal" plugin=star3d1r "grid=$cube,$cube,$cube" boundary=clamp precision=double steps=1000
wanted cube && measure "$cube_goal" plugin=star3d1r "grid=$cube,$cube,$cube" boundary=periodic precision=double steps=1000
wanted hotspot && measure "$chip_goal" plugin=hotspot "grid=$chip,$chip" boundary=clamp steps=10000 steady=true
sort -u "$work/libraries" 2>/dev/null
[ "$number" -gt 0 ] || { echo "jump.sh: ONLY=${ONLY:-} selects nothing" >&2; exit 2; }
[ "$failed" = 0 ]
