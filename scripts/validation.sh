#!/bin/sh
# Compares results with those of other programs and of publications, and makes docs/validation.md:
#
#   sh scripts/validation.sh [TRAPEZE]
#
# HOTSPOT is a folder with HotSpot's source, where `make` has been run. A part whose program is not there stays as it is.
set -eu
export LC_ALL=C
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
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

With `-detailed_3D on` HotSpot counts half of the convection's resistance between spreader and sink as well (`find_res` in temperature_grid.c takes half of the sink's `rz`, to which
`populate_R_model_grid` has added it): its rises of example3 are up to 18 K larger. Without that half its units are within 0.6 K of ours.

Example5 needs microfluidic cooling, which Trapeze does not have: `tz.chip` says so.
END
}

{
    printf '# Validation\n\nResults beside those of other programs and of publications. `sh scripts/validation.sh` makes this page.\n'
    printf '\n## Chips\n\n'
    chips
} >"$work/page"
cp "$work/page" "$page"
