#!/bin/sh
# Measures the stencils of scripts/class_stencils.lua, which users might write, and how well their plans are predicted:
#
#   sh scripts/classes.sh cuda|cpu [BUILD_FOLDER]
#
# Takes the environment variables of scripts/validate.sh, which it calls, and its folder. Prints the predictions' table,
# then a line for each class: what one step at a time could reach if it did nothing but move its bytes once (copy
# bandwidth divided by the bytes of a cell), the height 1, the fastest plan, the predicted one. On a GPU also the copies
# of built-in stencils beside these.
set -eu
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
backend=${1:-}
others='coefficients3d d2q9 reaction maxwell automaton acoustic2 acoustic8'
copies='star2d1r star2d2r box2d1r box2d2r star3d1r star3d2r box3d1r'
both=
for name in $copies; do both="$both $name my_$name"; done
export STENCILS="${STENCILS:-$others$both}" SIZES="${SIZES:-medium large}" BOUNDARIES="${BOUNDARIES:-default}"
if [ -z "${FOLDER:-}" ]; then
    number=1
    while [ -e "runs/classes-$backend-$(printf %03d $number)" ]; do number=$((number + 1)); done
    FOLDER=runs/classes-$backend-$(printf %03d $number)
    export FOLDER
fi
sh "$root/scripts/validate.sh" "$@"
ls "$FOLDER"/*.csv >/dev/null 2>&1 || exit 0
trapeze=${2:-$root/build}/bin/trapeze
copy=${COPY_GB_PER_S:-}
if [ -z "$copy" ] && [ "$backend" = cuda ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    echo 'local sim = require "trapeze".simulation { plugin = "star2d1r", grid = { 512, 512 }, backend = "cuda" }
        print(sim:kernel().copy_gb_per_s)' >"$work/copy.lua"
    copy=$("$trapeze" run "$work/copy.lua" --out "$work/run" 2>/dev/null | head -n 1)
fi
echo
echo "Copy bandwidth: ${copy:-not known, give it as COPY_GB_PER_S} GB/s"
echo
echo '| class | precision | grid | one-step roof | height 1 | its share of the roof | fastest | plan | predicted plan |'
echo '|---|---|---|---|---|---|---|---|---|'
for file in "$FOLDER"/*.csv; do
    awk -F, -v name="$(basename "$file" .csv)" -v copy="${copy:-0}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["measured_s"] != "" {
            if (!one || ($at["height"] == 1 && $at["measured_s"] < one)) if ($at["height"] == 1) one = $at["measured_s"]
            if ($at["best"] == 1) { best = $at["measured_s"]; plan = $at["family"] " " $at["height"] }
            if ($at["chosen"] == 1) chosen = $at["measured_s"]
            cells = $at["nx"] * $at["ny"] * $at["nz"]
            grid = $at["nx"] " x " $at["ny"] ($at["nz"] > 1 ? " x " $at["nz"] : "")
        }
        END {
            split(name, part, ".")
            # Numbers that a cell reads and writes in a step.
            numbers["coefficients3d"] = 9; numbers["d2q9"] = 19; numbers["reaction"] = 4; numbers["maxwell"] = 7
            numbers["acoustic2"] = numbers["acoustic8"] = 4 # the older level takes the place of the newer one
            count = part[1] in numbers ? numbers[part[1]] : 2
            roof = copy / (count * (part[2] == "double" ? 8 : 4))
            if (best > 0) printf "| %s | %s | %s | %.4g | %.4g | %s | %.4g | %s | %.1f %% |\n", part[1], part[2], grid, roof,
                one ? cells / one * 1e-9 : 0, roof && one ? sprintf("%.0f %%", 100 * cells / one * 1e-9 / roof) : "-",
                cells / best * 1e-9, plan, 100 * best / chosen
        }' "$file"
done
