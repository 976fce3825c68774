#!/bin/sh
# The papers' models at the command line and from a scenario; and the scenarios of the papers.
#
#   run_papers_tests.sh TRAPEZE predict|scripts
#
# Prints TAP; exits 1 if a case failed.
set -u
part=$2
set -- "$1"
here=$(cd "$(dirname "$0")/../cli" && pwd)
. "$here/command_support.sh"
papers=$here/../papers
# csv FLAG COLUMN: the column of the lines of `out` in which column FLAG is 1
csv() {
    awk -F, -v flag="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at[flag] == 1 { print $at[column] }' out
}
# one NAME ARGUMENT…: a scenario, which checks itself
one() {
    name=$1
    shift
    t run "$@" --quiet
    check "$name" is $rc 0
    [ "$rc" = 0 ] || sed 's/^/# /' err
}

if [ "$part" = scripts ]; then
    # The papers' experiments that need neither a GPU nor a measurement check what the papers say, and docs/papers.md has
    # their numbers.
    paper=$here/../../scripts/paper
    for script in heights figure6 figure7 figure8 sensitivity variants luo_equations tabik_sets; do
        one "paper: $script" "$paper/$script.lua" --out "page/$script"
    done
    one "paper: fence" "$paper/fence.lua" --set device=h200 --out page/fence
    for file in log/papers.md papers.md; do
        PAGE=$here/../../docs/$file sh "$paper/page.sh" page/*/log.txt >page.md
        check "docs/$file is what the scripts print now (sh scripts/paper/all.sh writes it)" cmp -s page.md "$here/../../docs/$file"
        diff page.md "$here/../../docs/$file" | sed 's/^/# /' | head -20
    done
    check "docs/papers.md has claims" [ "$(grep -c '^| 20.*| .*\.lua. |$' page.md)" -gt 10 ]
    finish
    exit
fi
one predict "$papers/predict.lua" --out predict
one "predict --check" "$papers/predict.lua" --check
refused "predict: unknown model" 2 "did you mean 'meng2009'?" predict hotspot --grid 9,9 --model meng209
refused "predict: a family that the model does not know" 1 "meng2009 describes tiles" predict hotspot \
    --grid 99,99 --device gtx280 --family stream
refused "predict: too high" 1 "the greatest that does is 9" predict hotspot --grid 99,99 --device gtx280 --height 12
t predict hotspot --grid 2000,2000 --device gtx280
check "predict" is $rc 0
expect "predict" says "hotspot on 2000 x 2000, single, clamp" says "(gtx280), by the model meng2009" \
    says "  best     height 2, blocks of 20 x 20" says "an iteration, " says "  why      "
check "predict: a few lines" [ "$(wc -l <out)" -le 7 ]
t predict hotspot --grid 2000,2000 --device gtx280 -v
expect "predict -v" rc 0 says "GeForce GTX 280" says "model    meng2009" says "63.9 instructions" says "  *     2 " \
    says "height 2, blocks of 20 x 20" says "computation-bound at every height" says "1.1 times height 1"
t predict pathfinder --grid 1000000 --device gtx280 --model meng2009 --csv
check "predict --csv: a line a height and one of names" is "$(wc -l <out)" 128
check "predict --csv: the equations' best height" is "$(csv best height)" 12
t predict hotspot --grid 2000,2000 --device gtx280 --block 16,16
check "predict --block" says "blocks of 16 x 16"
t predict poisson --grid 2000,2000 --device gtx280 --halo 4,4 --csv
check "predict --halo: wider halos, lower best" is "$(csv best height)" 1
t predict cell --grid 100,100,100 --device gtx-titan --model all
check "predict --model all" says "meng2011"
check "predict --model all: what is left out is printed" errs "roofs is left out"
t predict cell --grid 100,100,100 --device gtx-titan --model all --verbose
check "predict --model all --verbose: its tables" [ "$(grep -c '^  best ' out)" -ge 2 ]
t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015
check "tabik2015: the chosen shapes" says "pass gx, chosen: 11 of 41 shapes: 128 x 1, 256 x 1,"
t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015 --plot blocks.png --verbose
expect "predict --model tabik2015" rc 0 says "chosen: 11 of 41 shapes" \
    says "pass gx: reads 1 field, writes 1; 1 tile with a halo of 0:2 along x and 0:0 along y" \
    says "  *  128 x 1          1179648+        2228224+   100.0 %+      16+"
check "tabik2015 --plot: a picture" sh -c '"$0" info blocks.png >out' "$bin"
check "tabik2015 --plot: its size" says "1348 x 742"
t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015 --csv
check "tabik2015 --csv: a line a shape and one of names" is "$(wc -l <out)" 42
check "tabik2015 --csv: the chosen" is "$(csv chosen block_x | wc -l)" 11
t predict diffusion --grid 256,256,256 --device gtx480 --model tabik2015 --verbose
check "tabik2015: passes that read no neighbour in the plane" says "pass dt: reads 6 fields, writes 6; no tile"
t predict star3d1r --grid 256,256,256 --device h200 --model tabik2015
check "tabik2015: what is assumed" says "memory transactions of 32 bytes"
refused "tabik2015: a height" 2 "--height does not go with --model tabik2015" predict gx --grid 64,64,64 --device gtx-titan \
    --model tabik2015 --height 2
refused "tabik2015: a grid that is too small" 1 "no block of 32 to 1024 threads fits" predict gx --grid 4,4,4 --device gtx-titan \
    --model tabik2015
refused "tabik2015: several devices" 1 "leave out --devices" predict gx --grid 64,64,64 --device gtx-titan --model tabik2015 --devices 2
refused "tune: a model of another name" 2 "tuning takes the model tabik2015" tune gx --grid 64,64,64 --model roofs
refused "tune tabik2015: families" 2 "--families does not go with --model tabik2015" tune gx --grid 64,64,64 --model tabik2015 --families tile
refused "tabik2015: mistyped" 2 "did you mean 'tabik2015'?" predict gx --grid 64,64,64 --model tabik2105
t predict hotspot --grid 2000,2000 --device gtx280 --model luo2011
check "predict --model luo2011: a record without its costs" errs "the record of this device has no clocks_add_int_constant"
t predict hotspot --grid 2000,2000 --device gtx280 --model meng2009 --as-printed
check "predict --as-printed goes with luo2011" errs "that is luo2011"
t predict hotspot --grid 2000,2000 --device gtx260 --model luo2011 --as-printed --verbose
if [ "$rc" -eq 0 ]; then
    check "predict --model luo2011: the table of periods" says "T_p"
    check "predict --model luo2011 --as-printed" says "eq. 2 as printed"
    t predict hotspot --grid 200,200 --device gtx260 --model luo2011 --measure
    check "predict --model luo2011 --measure of a device elsewhere" errs "this device is not in this machine"
    t predict hotspot --grid 2000,2000 --device gtx260 --model luo2011 --json
    check "predict --model luo2011 --json" says '"transactions"'
    for side in clamp periodic mirror; do
        t predict pathfinder --grid 1000000 --boundary $side --backend cuda --device h200 --family stream --height 8
        check "predict: a line with $side sides stays in registers" says 'best     stream'
    done
else
    check "predict --model luo2011 needs NVRTC" errs "no NVRTC"
fi
if command -v python3 >/dev/null; then
    t predict hotspot --grid 2000,2000 --device gtx280 --json
    check "predict --json" python3 -c 'import json
a = json.load(open("out"))
assert a["best"]["height"] == 2 and a["model"] == "meng2009" and len(a["rows"]) == 9
r = a["rows"][1]
assert abs(sum(c["seconds"] for c in r["components"]) / r["time_s"] - 1) < 1e-6'
fi
refused "predict: a paper's model for several" 1 "meng2009 describes one device" predict hotspot --grid 256,256 --device gtx280 \
    --model meng2009 --devices 2
refused "predict --jump: an old record" 1 "the record has no 'copy_bandwidth'" predict hotspot --grid 99,99 --device gtx280 --jump 9
finish
