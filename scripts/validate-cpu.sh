#!/bin/sh
# How well does the model predict plans of the cpu backend on this machine?
#
#   sh scripts/validate-cpu.sh [OUT.csv [CASE...]]   measures every candidate plan, predicts them, reports
#   sh scripts/validate-cpu.sh --report IN.csv       errors and shares of the best, from such a table
#   sh scripts/validate-cpu.sh --predict IN.csv OUT.csv   predicts the same plans anew
#
# RECORD=FILE takes that device record; otherwise the machine is calibrated first, into OUT.txt. SECONDS_A_PLAN
# (0.06) sets how long each plan runs at least, THREADS how many threads run it (all cores). A CASE is a size (small,
# medium, large) or STENCIL[:PRECISION[:SIZE]]; all take about a quarter of an hour. Run it when the machine does
# nothing else.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
target=all
. "$root/scripts/build.sh"
validate=$build/test-bin/validate_cpu

if [ "${1:-}" = --report ]; then
    exec "$validate" report "$2"
fi
mode=measure input=
if [ "${1:-}" = --predict ]; then
    mode=predict input=$2
    shift 2
fi
out=${1:-validate-cpu.csv}
[ $# -eq 0 ] || shift
record=${RECORD:-${out%.csv}.txt}
if [ ! -e "$record" ]; then
    "$build/bin/trapeze" calibrate --cpu --output "$record"
fi
if [ $mode = predict ]; then
    "$validate" predict "$record" "$input" "$out"
else
    "$validate" measure "$record" "$out" "${SECONDS_A_PLAN:-0.06}" "$@"
fi
"$validate" report "$out"
