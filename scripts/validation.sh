#!/bin/sh
# Compares results with those of other programs and of publications, and makes docs/validation.md:
#
#   sh scripts/validation.sh [--quick] [TRAPEZE]
#
# --quick: only small flows in single precision, a test. The script ends with 1 where a flow is too far from what it should be.
# HOTSPOT is a folder with HotSpot's source, where `make` has been run, HOTSPOT_SUPERLU one where `make SUPERLU=1` has, which coolant
# needs. A part whose programs are not there stays as it is.
set -eu
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
quick='' failed=0
[ "${1:-}" != --quick ] || { quick=yes; shift; }
trapeze=${1:-$root/build/bin/trapeze}
page=$root/docs/validation.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# stays HEADING: the part of the page as it is.
stays() {
    awk -v heading="## $1" '/^## / { on = $0 == heading } on' "$page" | sed -e '1,2d' -e '${/^$/d;}'
}

# ---- Chips -------------------------------------------------------------------------------------

# differences TITLE THEIRS: a line of the table. Ours are in $work: double and single have HotSpot's nodes, cells has cells.
differences() {
    awk -v title="$1" 'FNR == 1 { file++ }
        file < 4 { ours[file, $1] = $2; next }
        (1, $1) in ours { n++; sum += ours[1, $1] - $2; if ($2 > most) most = $2
                          for (i = 1; i < 4; i++) { d = ours[i, $1] - $2; if (d < 0) d = -d
                              if (d > worst[i]) { worst[i] = d; if (i == 1) { at = $1; t = $2 } } } }
        END { printf "| %s | %d | %.2f | %.2f | %s: %.2f, %.2f | %+.2f | %.2f | %.2f |\n", title, n, most, worst[1], at, ours[1, at], t, sum / n,
                     worst[2], worst[3]
              if (worst[1] > 1 || worst[2] > 1) exit 1 }' "$work/double/ours.steady" "$work/single/ours.steady" "$work/cells/ours.steady" "$2" ||
        { failed=1; echo "validation: $1: a unit is more than 1 K off" >&2; }
}

# steady TITLE EXAMPLE CONFIG_OPTIONS OUR_OPTIONS: $cells x $cells cells, by the program of $source.
steady() {
    title=$1
    folder=$source/examples/$2
    rm -rf "$work/double" "$work/single" "$work/cells"
    (cd "$folder" && "$source/hotspot" -c example.config -model_type grid -grid_rows $cells -grid_cols $cells -steady_file "$work/theirs" $3) \
        >"$work/log" 2>&1 || { echo "validation: HotSpot failed:" >&2; cat "$work/log" >&2; exit 1; }
    set -- $4
    for option; do shift; set -- "$@" --set "$option"; done
    for way in double single cells; do
        case $way in cells) package=cells precision=double ;; *) package=nodes precision=$way ;; esac
        (cd "$folder" && "$trapeze" run "$root/scripts/validation_chip.lua" --quiet --out "$work/$way" --set precision=$precision \
            --set package=$package --set config="$folder/example.config" --set n=$cells "$@") >&2
    done
    differences "$title" "$work/theirs"
}

# transient EXAMPLE CONFIG_OPTIONS OUR_OPTIONS: twenty rows of the trace, 32 x 32 cells.
transient() {
    folder=$HOTSPOT/examples/$1
    head -21 "$folder/gcc.ptrace" >"$work/rows.ptrace"
    (cd "$folder" && "$HOTSPOT/hotspot" -c example.config -model_type grid -grid_rows 32 -grid_cols 32 -p "$work/rows.ptrace" -o "$work/theirs" $2) \
        >"$work/log" 2>&1 || { echo "validation: HotSpot failed:" >&2; cat "$work/log" >&2; exit 1; }
    set -- $3
    for option; do shift; set -- "$@" --set "$option"; done
    for way in double single cells; do
        case $way in cells) package=cells precision=double ;; *) package=nodes precision=$way ;; esac
        rm -rf "$work/run"
        "$trapeze" run "$root/scripts/validation_chip.lua" --quiet --out "$work/run" --set precision=$precision --set config="$folder/example.config" \
            --set package=$package --set ptrace="$work/rows.ptrace" --set n=32 --set transient=1 "$@" >&2
        [ $way = double ] || echo
        printf '%s, %s precision: ' $package $precision
        trace_differences "$work/run/ours.ttrace" "$work/theirs"
    done
}

# trace_differences OURS THEIRS: each unit's largest difference, in terms of the largest rise of all.
trace_differences() {
    awk 'NR == FNR { for (i = 1; i <= NF; i++) ours[FNR, i] = $i; next }
        FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
        FNR > 1 { for (i = 1; i <= NF; i++) { d = ours[FNR, i] - $i; if (d < 0) d = -d; if (d > worst[i]) worst[i] = d
                  sum += d; n++; if ($i - 318.15 > rise) rise = $i - 318.15 } }
        END { for (i in name) if (worst[i] > 0.02 * rise) far = far sprintf("%s%s by %.1f %%", far ? ", " : "", name[i], 100 * worst[i] / rise); else near++
              printf "of %d units, %d differ by less than 2 %% of the largest rise (%.1f K) in every row", n / (FNR - 1), near, rise
              printf "%s; the mean difference is %.1f %%.\n", far ? ", " far : "", 100 * sum / n / rise }' "$1" "$2"
}

chips() {
    if [ -z "${HOTSPOT:-}" ] || [ -z "${HOTSPOT_SUPERLU:-}" ]; then
        stays Chips
        return
    fi
    one=$HOTSPOT/examples/example1 three=$HOTSPOT/examples/example3 four=$HOTSPOT/examples/example4
    five=$HOTSPOT_SUPERLU/examples/example5 source=$HOTSPOT cells=64
    cat <<'END'
HotSpot 7.0 (github.com/uvahotspot/HotSpot), grid model, 64 x 64 cells (example5: 39 x 39, as its channels have them), `hotspot -c example.config -model_type grid -steady_file FILE` with the options named, beside
`scripts/validation_chip.lua` with the same files (`tz.chip { package = "nodes" }`, `sim:steady()`, `tz.steady`). All units of all layers, in kelvin, double precision; the last two columns are
of single precision, and of `package = "cells"`, the default, in double.

| example | units | hottest | largest difference | there: ours, theirs | mean difference | largest, single | largest, cells |
|---|---|---|---|---|---|---|---|
END
    steady 'example1: ev6, mean of gcc' example1 "-f ev6.flp -p gcc.ptrace -materials_file example.materials" \
        "flp=$one/ev6.flp ptrace=$one/gcc.ptrace materials=$one/example.materials"
    steady 'example3: two dies, without detailed 3-D' example3 \
        "-p example.ptrace -grid_layer_file example.lcf -materials_file example.materials" \
        "lcf=$three/example.lcf ptrace=$three/example.ptrace materials=$three/example.materials"
    steady 'example4: three dies, without detailed 3-D' example4 "-p ev6_3D.ptrace -grid_layer_file ev6_3D.lcf" \
        "lcf=$four/ev6_3D.lcf ptrace=$four/ev6_3D.ptrace"
    source=$HOTSPOT_SUPERLU cells=39
    steady 'example5: two dies cooled by water, detailed 3-D' example5 \
        "-p example.ptrace -grid_layer_file example.lcf -materials_file example.materials -detailed_3D on -use_microchannels 1" \
        "lcf=$five/example.lcf ptrace=$five/example.ptrace materials=$five/example.materials detailed=on"
    cat <<'END'

Spreader and sink beside the die are four and eight nodes in HotSpot, which spread heat along a whole side at no cost: with cells, example4, whose small die (12.4 mm x 12.8 mm) dissipates the
most, is warmer everywhere. Finer cells change its 1.15 K to 1.01 K (each at most 1.02 times as wide as the one before it, in place of 1.5), so the rest is due to the nodes. Its values are
those of the cells in the middle of units, as its `grid_map_mode` says. The coolant's cells of example5 are within 0.2 K, too (channels take heat from the cell before them here, from the mean
of both in HotSpot).

In time, example1 from 318.15 K on, 20 rows of gcc.ptrace of 10 ms each, 32 x 32 cells, `-o FILE` beside `tz.ttrace` with `implicit` = 0.5 ms:

END
    transient example1 "-f ev6.flp -materials_file example.materials" "flp=$one/ev6.flp materials=$one/example.materials"
    cat <<'END'

With `-detailed_3D on` HotSpot counts half of the convection's resistance between spreader and sink as well (`find_res` in temperature_grid.c takes half of the sink's `rz`, to which
`populate_R_model_grid` has added it): its rises of example3 are up to 18 K larger. Without that half its units are within 0.6 K of ours. (The package of example5 lets no heat through.)
END
}

# ---- Flow --------------------------------------------------------------------------------------

# flow_case SOURCE ARGUMENT…: rows of a table, of scripts/flow.lua in both precisions. Its lines are the name of a value
# (32 columns), ours, theirs.
flow_case() {
    source=$1 arguments=''
    shift
    for argument in "$@"; do arguments="$arguments --set $argument"; done
    for precision in single double; do
        # shellcheck disable=SC2086 # a list of arguments
        "$trapeze" run "$root/scripts/flow.lua" -q --out "$work/out" $arguments --set precision=$precision >"$work/flow-$precision" 2>"$work/errors" ||
            { failed=1; echo "validation: flow.lua$arguments, $precision:" >&2; cat "$work/errors" >&2; }
        rm -rf "$work/out"
        [ -z "$quick" ] || { cat "$work/flow-single"; return; }
    done
    awk -v source="$source" -v command="flow.lua$arguments" '
        function trim(text) { gsub(/^ +| +$/, "", text); return text }
        NR == FNR { other[FNR] = trim(substr($0, 33, 13)); next }
        $1 ~ /^[uv]$/ && $2 == "at" { next } # the cavity has 30 values: their differences are in the last rows
        { print "| " source " | `" command "` | " trim(substr($0, 1, 32)) " | " other[FNR] " | " trim(substr($0, 33, 13)) \
                " | " trim(substr($0, 46)) " |" }' "$work/flow-single" "$work/flow-double"
}

flow_quick() {
    flow_case - case=poiseuille cells=12
    flow_case - case=channel cells=12
    flow_case - case=duct cells=16
    flow_case - case=cavity cells=24 reynolds=100
    flow_case - case=2d-1 cells=10 length=0.6 steps=400
}

flow() {
    cat <<'END'
`trapeze run scripts/flow.lua`, with the options in the table. Drag and lift are coefficients: the force over half the square of the mean velocity times the diameter. Velocities
of the cavity are shares of the lid's, u along the vertical centre line, v along the horizontal one.

| source | command | value | ours, single | ours, double | theirs |
|---|---|---|---|---|---|
END
    flow_case 'exact solution' case=poiseuille
    flow_case 'exact solution' case=channel
    flow_case 'series' case=duct
    flow_case 'Schäfer and Turek, 1996, 2D-1' case=2d-1
    flow_case 'Schäfer and Turek, 1996, 2D-2' case=2d-2
    flow_case 'Ghia and others, 1982; Botella and Peyret, 1998' case=cavity
    cat <<'END'

Ghia's values are themselves from a grid of 129 x 129, and up to 1.9 % of the lid's velocity (at 0.9453) from those of Botella and Peyret, who have a spectral method and seven digits: no result that
is within 0.9 % of these everywhere can be within 1 % of Ghia's everywhere. Finer cells come closer to Botella and Peyret; neither a slower lid (0.05, 0.035) nor more steps change the last digit.
END
}

if [ "$quick" ]; then
    flow_quick
    exit $failed
fi
{
    printf '# Validation\n\nResults beside those of other programs and of publications. `sh scripts/validation.sh` makes this page.\n'
    printf '\n## Chips\n\n'
    chips
    printf '\n## Flow\n\n'
    flow
} >"$work/page"
cp "$work/page" "$page"
exit $failed
