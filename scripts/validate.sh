#!/bin/sh
# Validates the predictions on this machine: measures all plans of every stencil, in three sizes, both precisions
# and its boundaries (`trapeze tune`), and compares the predicted plan with the fastest. Needs a finished build:
#
#   sh scripts/validate.sh cuda|cpu [BUILD_FOLDER]
#
# Writes the measurements to a new folder runs/validate-BACKEND-NNN, a CSV file for each case, and prints a table for
# docs/. On a GPU all cores compile the kernels first. Environment variables:
#   STENCILS                  only these; also those of scripts/classes.lua (scripts/classes.sh)
#   SIZES ("small medium large"), BOUNDARIES ("default other"), FAMILIES (stream,tile)   only these
#   ROUNDS, SECONDS_A_ROUND   how long a plan is measured
#   SUSTAINED=yes             without rests: the speeds of a long run, at the clock that the power limit allows
#   PART=K/N                  the K-th of N parts of the cases
#   PREWARM=no|only           no: do not compile first. only: compile and stop; with DEVICE=h200 also on a machine
#                             without a GPU, to fill a cache ($TRAPEZE_CACHE) for another machine
#   FOLDER=DIR                continue in that folder; cases that it holds are not measured again
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
backend=${1:-}
case $backend in
cuda | cpu) ;;
*) echo 'validate: usage: sh scripts/validate.sh cuda|cpu [BUILD_FOLDER]' >&2; exit 2 ;;
esac
trapeze=${2:-$root/build}/bin/trapeze
[ -x "$trapeze" ] || { echo "validate: there is no $trapeze: build first" >&2; exit 2; }
if [ "$backend" = cuda ] && [ -z "${DEVICE:-}" ] && "$trapeze" doctor --verbose | grep -q 'cuda: .*(not on this machine)'; then
    echo 'validate: skipped: there is no GPU that the cuda backend can use (trapeze doctor prints why)'
    exit 0
fi
if [ -n "${DEVICE:-}" ] && [ "${PREWARM:-yes}" != only ]; then
    echo 'validate: DEVICE needs PREWARM=only: measurements are of this machine' >&2
    exit 2
fi
sizes=${SIZES:-small medium large}
part=${PART:-1/1}
if [ "$backend" = cuda ]; then
    rounds=${ROUNDS:-3} seconds=${SECONDS_A_ROUND:-0.006} boundaries=${BOUNDARIES:-default other}
    [ -z "${SUSTAINED:-}" ] || seconds=${SECONDS_A_ROUND:-0.2}
else
    # A round of a large grid is a stage of tens of milliseconds. Shorter rounds must be long
    # enough to average over what other programs take of a core.
    rounds=${ROUNDS:-} seconds=${SECONDS_A_ROUND:-0.005} boundaries=${BOUNDARIES:-default}
fi
if [ -n "${FOLDER:-}" ]; then
    out=$FOLDER
else
    number=1
    while [ -e "runs/validate-$backend-$(printf %03d $number)" ]; do number=$((number + 1)); done
    out=runs/validate-$backend-$(printf %03d $number)
fi
mkdir -p "$out"

# Extents. The large ones exceed every cache.
grid() { # grid STENCIL SIZE
    case $backend:$1:$2 in
    *:pathfinder:small) echo 100000 ;;
    *:pathfinder:medium) echo 1000000 ;;
    *:pathfinder:large) echo 10000000 ;;
    cuda:life:small) echo 8192,8192 ;;
    cuda:life:medium) echo 32768,32768 ;;
    cuda:life:large) echo 65536,65536 ;;
    cpu:life:small) echo 2048,2048 ;;
    cpu:life:medium) echo 8192,8192 ;;
    cpu:life:large) echo 32768,32768 ;;
    cuda:cell:small) echo 256,256,256 ;;
    cuda:cell:medium) echo 512,512,512 ;;
    cuda:cell:large) echo 1024,1024,1024 ;;
    cpu:cell:small) echo 128,128,128 ;;
    cpu:cell:medium) echo 256,256,256 ;;
    cpu:cell:large) echo 768,768,768 ;;
    cuda:coefficients3d:large | cuda:acoustic*:large) echo 512,512,512 ;;
    cuda:acoustic*:medium) echo 256,256,256 ;;
    cuda:acoustic*:small) echo 128,128,128 ;;
    cpu:acoustic*:small) echo 48,48,48 ;;
    cpu:acoustic*:medium) echo 128,128,128 ;;
    cpu:acoustic*:large) echo 256,256,256 ;;
    cuda:d2q9:large | cuda:reaction:large | cuda:maxwell:large | cuda:automaton:large) echo 8192,8192 ;;
    cuda:d2q9:medium | cuda:reaction:medium | cuda:maxwell:medium | cuda:automaton:medium) echo 2048,2048 ;;
    cuda:*3d*:small) echo 128,128,128 ;;
    cuda:*3d*:medium) echo 256,256,256 ;;
    cuda:*3d*:large) echo 768,768,768 ;;
    cpu:*3d*:small) echo 48,48,48 ;;
    cpu:*3d*:medium) echo 128,128,128 ;;
    cpu:*3d*:large) echo 256,256,256 ;;
    cuda:*:small) echo 1024,1024 ;;
    cuda:*:medium) echo 4096,4096 ;;
    cuda:*:large) echo 16384,16384 ;;
    cpu:*:small) echo 512,512 ;;
    cpu:*:medium) echo 1536,1536 ;;
    cpu:*:large) echo 4096,4096 ;;
    esac
}

other() { # other STENCIL: a boundary that is not its default
    case $1 in
    pathfinder | life | cell | star* | box*) echo periodic ;;
    hotspot | cyclic | grayscott*) echo fixed ;;
    lbm | wave*) echo clamp ;;
    hotspot3d) echo periodic ;;
    poisson | my_* | coefficients3d | d2q9 | reaction | maxwell | automaton | acoustic*) echo periodic ;;
    esac
}

cases() { # lines: NAME STENCIL ARGUMENT…
    for stencil in ${STENCILS:-star2d1r star2d2r box2d1r box2d2r hotspot poisson star3d1r star3d2r box3d1r life cell \
        pathfinder}; do
        precisions='single double'
        case $stencil in life | cell | pathfinder | automaton) precisions=none ;; esac
        from=
        case $stencil in my_* | coefficients3d | d2q9 | reaction | maxwell | automaton | acoustic*) from=" --from $root/scripts/classes.lua" ;; esac
        for precision in $precisions; do
            for size in $sizes; do
                for boundary in $boundaries; do
                    arguments="--grid $(grid "$stencil" "$size")$from ${FAMILIES:+--families $FAMILIES}"
                    [ "$precision" = none ] || arguments="$arguments --precision $precision"
                    [ "$boundary" = default ] || arguments="$arguments --boundary $(other "$stencil")"
                    # Compare bits only where a copy of the fields is cheap.
                    [ "$size" = small ] || arguments="$arguments --no-check"
                    echo "$stencil.$precision.$size.$boundary $stencil $arguments"
                done
            done
        done
    # Without trailing blanks: with them xargs joins the next line to this one.
    done | sed 's/ *$//' | awk -v part="$part" '{split(part, p, "/"); if ((NR - 1) % p[2] == p[1] - 1) print}'
}

if [ "$backend" = cuda ] && [ "${PREWARM:-yes}" != no ]; then
    echo "compiling kernels with $(nproc) processes"
    # Small cases first: larger ones use the same kernels.
    cases | sort -t. -k3,3r | cut -d' ' -f2- | sed 's/ --families [^ ]*//; s/ --no-check//' | xargs -P "$(nproc)" -L 1 sh -c '
        trapeze=$1 device=$2
        shift 2
        "$trapeze" predict "$@" $device --backend cuda --compile >/dev/null || echo "not compiled: $*"' sh "$trapeze" "${DEVICE:+--device=$DEVICE}"
    [ "${PREWARM:-yes}" != only ] || exit 0
fi

cases | while read -r name stencil arguments; do
    [ -s "$out/$name.csv" ] && continue
    case $name in *.small.*) many=30 ;; *.medium.*) many=12 ;; *) many=4 ;; esac
    # shellcheck disable=SC2086 # arguments are a list
    if "$trapeze" tune "$stencil" $arguments --backend "$backend" --rounds "${rounds:-$many}" --seconds "$seconds" \
        ${SUSTAINED:+--sustained} --csv \
        >"$out/$name.tmp" 2>"$out/$name.err" </dev/null; then
        mv "$out/$name.tmp" "$out/$name.csv"
        rm -f "$out/$name.err"
        sh "$root/scripts/validate_table.sh" case "$out/$name.csv"
    else
        echo "$name: $(tail -n 1 "$out/$name.err")"
        rm -f "$out/$name.tmp"
    fi
done
echo
sh "$root/scripts/validate_table.sh" table "$out" >"$out/table.md" # fails if nothing was measured
cat "$out/table.md"
echo
echo "$out"
