#!/bin/sh
# Compares results with those of other programs and of publications, and makes docs/validation.md:
#
#   sh scripts/validation.sh [--quick] [TRAPEZE]
#
# --quick: only small flows in single precision, a test. The script ends with 1 where a flow is too far from what it should be.
# HOTSPOT is a folder with HotSpot's source, where `make` has been run. A part whose program is not there stays as it is.
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
    awk -v heading="## $1" '/^## / { on = $0 == heading } on' "$page" | sed -e '1,2d' -e '$d'
}

# ---- Chips -------------------------------------------------------------------------------------

# differences TITLE OURS THEIRS: a line of the table.
differences() {
    awk -v title="$1" 'NR == FNR { ours[$1] = $2; next }
        $1 in ours { d = ours[$1] - $2; if ($2 > most) most = $2; n++; sum += d; if (d < 0) d = -d
                     if (d > worst) { worst = d; at = $1; t = $2; o = ours[$1] } }
        END { printf "| %s | %d | %.2f | %.2f | %s: %.2f, %.2f | %+.2f |\n", title, n, most, worst, at, o, t, sum / n }' "$2" "$3"
}

# steady TITLE EXAMPLE CONFIG_OPTIONS OUR_OPTIONS
steady() {
    title=$1
    folder=$HOTSPOT/examples/$2
    rm -rf "$work/run"
    (cd "$folder" && "$HOTSPOT/hotspot" -c example.config -model_type grid -grid_rows 64 -grid_cols 64 -steady_file "$work/theirs" $3) \
        >"$work/log" 2>&1 || { echo "validation: HotSpot failed:" >&2; cat "$work/log" >&2; exit 1; }
    set -- $4
    for one; do shift; set -- "$@" --set "$one"; done
    (cd "$folder" && "$trapeze" run "$root/scripts/validation_chip.lua" --quiet --out "$work/run" --set config="$folder/example.config" "$@") >&2
    differences "$title" "$work/run/ours.steady" "$work/theirs"
}

# transient EXAMPLE CONFIG_OPTIONS OUR_OPTIONS: twenty rows of the trace, 32 x 32 cells.
transient() {
    folder=$HOTSPOT/examples/$1
    head -21 "$folder/gcc.ptrace" >"$work/rows.ptrace"
    rm -rf "$work/run"
    (cd "$folder" && "$HOTSPOT/hotspot" -c example.config -model_type grid -grid_rows 32 -grid_cols 32 -p "$work/rows.ptrace" -o "$work/theirs" $2) \
        >"$work/log" 2>&1 || { echo "validation: HotSpot failed:" >&2; cat "$work/log" >&2; exit 1; }
    set -- $3
    for one; do shift; set -- "$@" --set "$one"; done
    "$trapeze" run "$root/scripts/validation_chip.lua" --quiet --out "$work/run" --set config="$folder/example.config" --set ptrace="$work/rows.ptrace" \
        --set n=32 --set transient=1 "$@" >&2
    trace_differences "$work/run/ours.ttrace" "$work/theirs"
}

# trace_differences OURS THEIRS: each unit's largest difference, in terms of the largest rise of all.
trace_differences() {
    awk 'NR == FNR { for (i = 1; i <= NF; i++) ours[FNR, i] = $i; next }
        FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
        FNR > 1 { for (i = 1; i <= NF; i++) { d = ours[FNR, i] - $i; if (d < 0) d = -d; if (d > worst[i]) worst[i] = d
                  sum += d; n++; if ($i - 318.15 > rise) rise = $i - 318.15 } }
        END { for (i in name) if (worst[i] > 0.02 * rise) far = far sprintf("%s%s by %.1f %%", far ? ", " : "", name[i], 100 * worst[i] / rise); else near++
              printf "Of %d units, %d differ by less than 2 %% of the largest rise (%.1f K) in every row", n / (FNR - 1), near, rise
              printf "%s; the mean difference is %.1f %%.\n", far ? ", " far : "", 100 * sum / n / rise }' "$1" "$2"
}

chips() {
    if [ -z "${HOTSPOT:-}" ]; then
        stays Chips
        return
    fi
    one=$HOTSPOT/examples/example1 three=$HOTSPOT/examples/example3 four=$HOTSPOT/examples/example4
    cat <<'END'
HotSpot 7.0 (github.com/uvahotspot/HotSpot), grid model, 64 x 64 cells, `hotspot -c example.config -model_type grid -steady_file FILE` with the options named, beside
`scripts/validation_chip.lua` with the same files (`tz.chip`, `sim:steady()`, `tz.steady`), double precision. All units of all layers, in kelvin.

| example | units | hottest | largest difference | there: ours, theirs | mean difference |
|---|---|---|---|---|---|
END
    steady 'example1: ev6, mean of gcc' example1 "-f ev6.flp -p gcc.ptrace -materials_file example.materials" \
        "flp=$one/ev6.flp ptrace=$one/gcc.ptrace materials=$one/example.materials"
    steady 'example3: two dies, without detailed 3-D' example3 \
        "-p example.ptrace -grid_layer_file example.lcf -materials_file example.materials" \
        "lcf=$three/example.lcf ptrace=$three/example.ptrace materials=$three/example.materials"
    steady 'example4: three dies, without detailed 3-D' example4 "-p ev6_3D.ptrace -grid_layer_file ev6_3D.lcf" \
        "lcf=$four/ev6_3D.lcf ptrace=$four/ev6_3D.ptrace"
    cat <<'END'

The parts of spreader and sink beside the die are four and eight nodes in HotSpot and cells here, so some difference must remain. The die of example4 is small and not square
(12.4 mm x 6.4 mm under a spreader of 30 mm).

In time, example1 from 318.15 K on, 20 rows of gcc.ptrace of 10 ms each, 32 x 32 cells, `-o FILE` beside `tz.ttrace` with `implicit` = 0.5 ms:

END
    transient example1 "-f ev6.flp -materials_file example.materials" "flp=$one/ev6.flp materials=$one/example.materials"
    cat <<'END'

With `-detailed_3D on` HotSpot counts half of the convection's resistance between spreader and sink as well (`find_res` in temperature_grid.c takes half of the sink's `rz`, to which
`populate_R_model_grid` has added it): its rises of example3 are up to 18 K larger. Without that half its units are within 0.6 K of ours.

Example5 needs microfluidic cooling, which Trapeze does not have: `tz.chip` says so.
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
        "$trapeze" run "$root/scripts/flow.lua" -q --out "$work/out" $arguments --set precision=$precision >"$work/$precision" 2>"$work/errors" ||
            { failed=1; echo "validation: flow.lua$arguments, $precision:" >&2; cat "$work/errors" >&2; }
        rm -rf "$work/out"
        [ -z "$quick" ] || { cat "$work/single"; return; }
    done
    awk -v source="$source" -v command="flow.lua$arguments" '
        function trim(text) { gsub(/^ +| +$/, "", text); return text }
        NR == FNR { other[FNR] = trim(substr($0, 33, 13)); next }
        $1 ~ /^[uv]$/ && $2 == "at" { next } # the cavity has 36 values: their differences are in the last rows
        { print "| " source " | `" command "` | " trim(substr($0, 1, 32)) " | " other[FNR] " | " trim(substr($0, 33, 13)) \
                " | " trim(substr($0, 46)) " |" }' "$work/single" "$work/double"
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
    flow_case 'Ghia and others, 1982' case=cavity
    cat <<'END'

Ghia's values are themselves from a grid of 129 x 129. They are least accurate in the layer beside the right wall, where the difference is the largest: a spectral method has v =
-0.22792, -0.29369, -0.35532, -0.41038 and -0.52644 at 0.9688 to 0.9063 (Botella and Peyret, Computers & Fluids 27, 1998), from which ours differ by 0.8 % of the lid's velocity at
most. The whole table is within 1 % of Ghia's in the mean of squares.
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
