#!/bin/sh
# Tests of the command line: every command, exit codes, wrong use, signals, full disks.
#
#   run_cli_tests.sh TRAPEZE [BADPLUGINS_DIR]
#
# Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
bad=${2:-$(dirname "$bin")/../bad-plugins}
[ -d "$bad" ] || bad=
case $bad in '' | /*) ;; *) bad=$(pwd)/$bad ;; esac
cd "$work" || exit 1
absent() { [ ! -e "$1" ]; }
empty_dir() { [ -z "$(ls -A "$1")" ]; }

# refused NAME CODE TEXT ARGUMENT…: the program must exit with CODE, print one line that holds TEXT, and
# leave no file.
refused() {
    name=$1 code=$2 text=$3
    shift 3
    mkdir -p clean && cd clean || exit 1
    "$bin" "$@" >../out 2>../err </dev/null
    rc=$?
    cd ..
    check "$name: exit code $code" is "$rc" "$code"
    check "$name: says so" errs "$text"
    check "$name: one line" lines_err 1
    check "$name: leaves nothing" empty_dir clean
    rm -rf clean
}

script() { # script NAME: the text comes from stdin
    cat >"$work/$1"
}

# ---- help, version, wrong use ------------------------------------------------------------------
t --version
check "version" is $rc 0
check "version is printed" says "trapeze "
t
check "no command: exit code 2" is $rc 2
check "no command: usage" errs "usage: trapeze"
for command in '' run plugins doctor info calibrate predict tune explain report manual new; do
    # shellcheck disable=SC2086
    t $command --help
    check "trapeze $command --help" is $rc 0
    check "trapeze $command --help says usage" says "usage: trapeze $command"
    check "trapeze $command --help: nothing on stderr" lines_err 0
done
t help run
check "help run" says "usage: trapeze run"
refused "unknown command" 2 "unknown command 'rnu'; did you mean 'run'?" rnu
refused "unknown global option" 2 "unknown option '--verison'" --verison
refused "unknown option" 2 "unknown option --hieght; did you mean --height?" run a.lua --hieght 3
refused "unknown letter" 2 "unknown option -z" run a.lua -z
refused "option without value" 2 "--out needs a value" run a.lua --out
refused "option with too much" 2 "option --check takes no value" run a.lua --check=1
refused "no script" 2 "run: needs a script" run
refused "two scripts" 2 "takes one script" run a.lua b.lua
refused "bad height" 2 "'height' must be an integer, \"auto\" or a policy, not 'x'; known: auto, predicted" run a.lua --height x
refused "zero height" 2 "needs an integer from 1" run a.lua --height 0
refused "unknown family" 2 "--family: unknown family 'strem'; did you mean 'stream'?" run a.lua --family strem
for command in run tune; do
    t $command --help
    check "help $command lists the families" says "stream, tile, resident, direct, block, skew, diamond, reference"
done
refused "bad threads" 2 "--threads needs an integer" run a.lua --threads -1
refused "bad backend" 2 "did you mean 'cpu'?" run a.lua --backend cqu
refused "bad set" 2 "--set needs NAME=VALUE, not 'x'" run a.lua --set x
refused "missing script" 1 "nosuch.lua: " run nosuch.lua
refused "plugins: unknown option" 2 "did you mean --json?" plugins --jsno
refused "plugins: unknown name" 1 "did you mean 'hotspot'?" plugins hotspt
refused "doctor: an argument" 2 "takes no argument" doctor x
refused "info: nothing" 2 "needs a frame, an array or a run folder" info
refused "info: no such file" 1 "there is no such file" info nosuch.png

# ---- manual --------------------------------------------------------------------------------------
t manual
check "manual" is $rc 0
check "manual: every function has its section" [ "$(grep -c '^### ' out)" -gt 40 ]
check "manual: docs/scenario.md is its output (trapeze manual >docs/scenario.md)" cmp -s out "$here/../../docs/scenario.md"
refused "manual: an argument" 2 "takes no argument" manual x
t manual --man
check "manual --man" is $rc 0
check "manual --man: every command" [ "$(grep -c '^\.SS trapeze ' out)" = "$("$bin" --help | grep -c '^  [a-z]')" ]
check "manual --man: options" grep -q '\\-\\-walltime TIME' out
for shell in bash zsh fish; do
    t manual --completion $shell
    check "manual --completion $shell" is $rc 0
    check "manual --completion $shell: commands and options" grep -q 'resume.*\|walltime' out
done
refused "manual: an unknown shell" 2 "not bash, zsh or fish" manual --completion tcsh
refused "manual: two forms" 2 "exclude each other" manual --man --completion bash
if command -v bash >/dev/null; then
    t manual --completion bash
    check "completion: options of a command" [ "$(bash -c '. ./out; COMP_WORDS=(trapeze run --wallt); COMP_CWORD=2
        _trapeze; echo "${COMPREPLY[*]}"')" = --walltime ]
    check "completion: commands" [ "$(bash -c '. ./out; COMP_WORDS=(trapeze dr); COMP_CWORD=1
        _trapeze; echo "${COMPREPLY[*]}"')" = "" ]
    check "completion: a command" [ "$(bash -c '. ./out; COMP_WORDS=(trapeze doc); COMP_CWORD=1
        _trapeze; echo "${COMPREPLY[*]}"')" = doctor ]
fi

# ---- plugins, doctor ---------------------------------------------------------------------------
t plugins
check "plugins" is $rc 0
for word in hotspot temperature ambient_k "2-D, radius 1" "default 318.15" "W/(m K)"; do
    check "plugins says $word" says "$word"
done
t plugins hotspot
check "plugins NAME" is $rc 0
check "plugins NAME: that one only" sh -c '! grep -q pathfinder out'
t plugins --json
check "plugins --json" says '"ambient_k"'
if command -v python3 >/dev/null; then
    check "plugins --json is JSON" python3 -c 'import json; json.load(open("out"))'
fi
t doctor
check "doctor" is $rc 0
for word in "cpu (" "auto takes " "  records   CPU: " "  stencils  2" "trapeze 0"; do
    check "doctor says $word first" says "$word"
done
check "doctor: a few lines" [ "$(wc -l <out)" -le 8 ]
if [ "$(nproc)" -gt 1 ]; then
    # OpenMP binds the first thread before main(). What the program executes and starts must not be bound to its processor.
    cat >bound.lua <<'END'
local sim = require("trapeze").simulation { plugin = "star2d1r", grid = { 512, 512 }, backend = "cpu", threads = 2 }
sim:run(4)
END
    OMP_PROC_BIND=true OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT='on %A' t run bound.lua --quiet --out bound
    check "threads bound by OpenMP: a run uses several processors" \
        [ "$(cat out err | grep '^on ' | sort -u | wc -l)" -gt 1 ]
else
    skip "threads bound by OpenMP" "one processor"
fi
PATH="$work/nowhere" t doctor
check "doctor: what is missing, and the packages" says "optional  missing: movies as .mp4 and .webm, plots"
check "doctor: how to install it" says "(apt-get install ffmpeg gnuplot-nox"
check "doctor: optional parts are no fault" is $rc 0
mkdir -p unwritable && chmod 555 unwritable
if [ "$(id -u)" -ne 0 ]; then
    (cd unwritable && "$bin" doctor >../out 2>../err)
    check "doctor: a folder that cannot be written" says "1 problem: see above"
else
    skip "doctor: a folder that cannot be written" "this user may write everywhere"
fi
t doctor -v
check "doctor -v" is $rc 0
for word in "machine" "row functions" "libcapstone" "Lua 5.4" "libpng" "jansson" "OpenMP" "CUDA driver: " "stencil"; do
    check "doctor says $word" says "$word"
done
if grep -q "no NVIDIA driver" out; then
    check "doctor names the missing library once" sh -c '[ "$(grep -o libcuda.so.1 out | wc -l)" -eq 1 ]'
else
    skip "doctor names the missing library once" "there is a driver and a GPU"
fi
if [ -n "$bad" ]; then
    t plugins --plugins "$bad"
    check "bad plugins do not stop the list" is $rc 0
    check "bad plugins are refused" says "refused: $bad"
    t doctor --plugins "$bad" --verbose
    check "doctor counts bad plugins" says "refused"
    t doctor --plugins "$bad"
    check "doctor names bad plugins" says "refused: $bad"
    check "doctor counts problems" says ": see above"
fi

# ---- predict, tune, explain --------------------------------------------------------------------
refused "predict: nothing" 2 "predict: needs a stencil" predict
refused "predict: two" 2 "takes one stencil" predict hotspot life --grid 9,9
refused "predict: unknown stencil" 1 "did you mean 'hotspot'?" predict hotspt --grid 9,9
refused "predict: no grid" 2 "needs --grid NX,NY" predict hotspot
refused "predict: bad grid" 2 "--grid needs NX" predict hotspot --grid 9x9
refused "predict: too few extents" 1 "'hotspot' is 2-dimensional" predict hotspot --grid 9
refused "predict: unknown model" 2 "did you mean 'meng2009'?" predict hotspot --grid 9,9 --model meng209
refused "predict: unknown device" 1 "'gtx28' (trapeze calibrate makes those of this machine's devices); did you mean 'gtx280'?" predict hotspot --grid 9,9 --device gtx28
refused "predict: unknown precision" 2 "did you mean 'double'?" predict hotspot --grid 9,9 --precision duble
refused "predict: unknown boundary" 1 "did you mean 'clamp'?" predict hotspot --grid 9,9 --device gtx280 \
    --boundary clmp
refused "predict: unknown parameter" 1 "did you mean 'ambient_k'?" predict hotspot --grid 9,9 --set ambient=3
refused "predict: unknown family" 2 "did you mean 'stream'?" predict hotspot --grid 9,9 --family strem
refused "predict: unknown option" 2 "did you mean --device?" predict hotspot --devise gtx280
refused "predict: a GPU on the cpu backend" 1 "gtx280 is a GPU: the cpu backend does not run there" predict \
    hotspot --grid 9,9 --device gtx280 --backend cpu
refused "predict: a family that the model does not know" 1 "meng2009 describes tiles" predict hotspot \
    --grid 99,99 --device gtx280 --family stream
refused "predict: too high" 1 "the greatest that does is 9" predict hotspot --grid 99,99 --device gtx280 --height 12
refused "predict: kernels of a GPU that nothing compiles for" 1 "has no compute_capability to compile for" predict hotspot \
    --grid 99,99 --device gtx280 --model roofs
refused "predict: json and csv" 2 "not both" predict hotspot --grid 9,9 --json --csv
refused "predict: reference" 1 "use cpu or cuda" predict hotspot --grid 9,9 --backend reference
t predict hotspot --grid 2000,2000 --device gtx280
check "predict" is $rc 0
for word in "hotspot on 2000 x 2000, single, clamp" "(gtx280), by the model meng2009" "  best     height 2, blocks of 20 x 20" \
    "an iteration, " "1.1 times height 1" "  why      " "computation-bound at every height"; do
    check "predict says $word first" says "$word"
done
check "predict: a few lines" [ "$(wc -l <out)" -le 7 ]
t predict hotspot --grid 2000,2000 --device gtx280 -v
check "predict -v" is $rc 0
for word in "GeForce GTX 280" "model    meng2009" "63.9 instructions" "  *     2 " "height 2, blocks of 20 x 20" \
    "computation-bound at every height" "1.1 times height 1"; do
    check "predict says $word" says "$word"
done
# csv FLAG COLUMN: the column of the lines of `out` in which column FLAG is 1
csv() {
    awk -F, -v flag="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at[flag] == 1 { print $at[column] }' out
}
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
t predict hotspot --grid 2000,2000 --device gtx280 --all
check "predict --all: the plans" says "  *     2 "
t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015
check "tabik2015: the chosen shapes" says "pass gx, chosen: 11 of 41 shapes: 128 x 1, 256 x 1,"
t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015 --plot blocks.png --verbose
check "predict --model tabik2015" is $rc 0
for word in "pass gx: reads 1 field, writes 1; 1 tile with a halo of 0:2 along x and 0:0 along y" "chosen: 11 of 41 shapes" \
    "  *  128 x 1          1179648+        2228224+   100.0 %+      16+"; do
    check "tabik2015 says $word" says "$word"
done
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
    t predict gx --grid 256,256,256 --device gtx-titan --model tabik2015 --json
    check "tabik2015 --json" python3 -c 'import json
a = json.load(open("out"))["passes"][0]
assert a["chosen"] == 11 == sum(s["chosen"] for s in a["shapes"]) and a["high"] == [2, 0]'
    t predict hotspot --grid 2000,2000 --device gtx280 --json
    check "predict --json" python3 -c 'import json
a = json.load(open("out"))
assert a["best"]["height"] == 2 and a["model"] == "meng2009" and len(a["rows"]) == 9
r = a["rows"][1]
assert abs(sum(c["seconds"] for c in r["components"]) / r["time_s"] - 1) < 1e-6'
fi
if command -v gnuplot >/dev/null; then
    t predict hotspot --grid 2000,2000 --device gtx280 --plot plot.png
    check "predict --plot" is $rc 0
    check "predict --plot: a picture" sh -c '"$0" info plot.png >out' "$bin"
    check "predict --plot: its size" says "1600 x 900"
    t predict hotspot --grid 2000,2000 --device gtx280 --plot nosuch/plot.png
    check "predict --plot: a folder that is not there" errs "cannot write the plot"
else
    skip "predict --plot" "no gnuplot"
fi
cpu="$here/../predict/cpu.txt"
refused "predict --jump: bad steps" 2 "--jump needs a number of steps, at least 1, not '2.5'" predict hotspot --grid 9,9 --jump 2.5
refused "predict --jump --csv" 2 "--csv does not go with --jump" predict hotspot --grid 9,9 --jump 9 --csv
refused "predict --measure" 2 "--measure goes with --jump" predict hotspot --grid 9,9 --measure
refused "predict --jump: life" 1 "cannot be jumped, because field 'alive' holds bits" predict life --grid 64,64 --device "$cpu" --jump 9
refused "predict --jump: an old record" 1 "the record has no 'copy_bandwidth'" predict hotspot --grid 99,99 --device gtx280 --jump 9
refused "predict --jump --measure: another machine's CPU" 1 "is not in this machine" predict hotspot --grid 99,99 --device "$cpu" \
    --jump 9 --measure
t predict star2d1r --grid 512,512 --device "$cpu" --boundary periodic --jump 100000
check "predict --jump" is $rc 0
check "predict --jump: from when on" says "times faster than its steps; a jump is faster from "
t predict star2d1r --grid 512,512 --device "$cpu" --boundary periodic --jump 100000 --json
check "predict --jump --json" python3 -c 'import json
a = json.load(open("out"))
p = a["predicted"]
assert a["steps"] == 100000 and a["source"] is False and a["measured"] is None and a["plan"]["height"] > 0
assert p["faster_from"] * p["iteration_s"] > p["jump_s"] >= (p["faster_from"] - 1) * p["iteration_s"] > 0'

mkdir -p nopath
PATH="$work/nopath" t predict hotspot --grid 2000,2000 --device gtx280 --plot plot2.png
check "predict --plot without gnuplot: exit code" is $rc 1
check "predict --plot without gnuplot: what to do" errs "apt-get install gnuplot-nox"
check "predict --plot without gnuplot: no file" absent plot2.png

PATH="$work/nopath" t tune hotspot --grid 64,64 --plot plot2.png
check "tune --plot without gnuplot: before it measures" errs "apt-get install gnuplot-nox"

# What was not predicted is not called so.
mkdir -p known
export TRAPEZE_DEVICES="$work/known"
script untold.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "hotspot", grid = { 16, 16 }, backend = "cpu" }:run(4)
END
no_prediction() { ! sed 's/not predicted//g' out err | grep -q predicted; }
t run untold.lua --check
check "--check without a record: a default" says "policy default: height"
check "--check without a record: no prediction" no_prediction
t run untold.lua --out untold
check "summary without a record: a default" errs "; default: height"
check "summary without a record: no prediction" no_prediction
check "summary: who chose" errs ", by cpu with "
check "summary: the scenario chose" errs "(by the scenario)"
t run untold.lua --backend reference --out told
check "summary: the command line chose" errs "by reference"
check "summary: that it did" errs "(by the command line)"
t info untold
check "info without a record: no prediction" no_prediction
t explain untold
check "explain without a record: says why" says "no prediction: no device record describes"
check "explain without a record: exit code 0" is $rc 0
check "explain without a record: no prediction" no_prediction
t tune star2d1r --grid 64,64 --backend cpu
check "no record of this machine: what to do" errs "trapeze calibrate"
t calibrate --cpu --seconds 1 --name here --output known/here.txt
check "a record of this machine" is $rc 0
refused "tune: another device" 1 "is not this machine's device" tune hotspot --grid 64,64 --device gtx280
refused "tune: unknown family" 1 "did you mean 'stream'?" tune star2d1r --grid 64,64 --backend cpu --families strem
refused "tune: bad part" 2 "--part needs K/N" tune star2d1r --grid 64,64 --compile-only --part 3/2
refused "tune: part without compile" 2 "goes with --compile-only" tune star2d1r --grid 64,64 --part 1/2
refused "tune: rounds" 2 "--rounds needs an integer" tune star2d1r --grid 64,64 --rounds 0
t tune star2d1r --grid 96,64 --backend cpu --height 2 --family stream --rounds 1 --seconds 0.01 --sustained
check "tune --sustained" says "measured   as in a long run: no rests"
refused "tune: an unstable step" 1 "unstable" tune hotspot --grid 8192,8192 --set dt_s=1e-3 --backend cpu
t tune star2d1r --grid 96,64 --backend cpu --rounds 1 --seconds 0.001
check "tune" is $rc 0
for word in "measured" "predicted" "of the best speed is reached by the prediction" "90th percentile" \
    "the same under every plan"; do
    check "tune says $word" says "$word"
done
t tune pathfinder --grid 5000 --device known/here.txt --rounds 1 --seconds 0.001 --csv
check "tune by a named record of this machine" is $rc 0
check "tune --csv: one fastest" is "$(csv best height | wc -l)" 1
check "tune --csv: one chosen" is "$(csv chosen height | wc -l)" 1
check "tune --csv: a CPU tells no clock" is "$(csv throttled height; csv best clock_hz)" ""
check "tune --csv: columns" is "$(sed 1q out | sed 's/.*\(rounds,.*power_w\).*/\1/')" \
    rounds,throttled,clock_hz,bits,in_set,best,chosen,sustained_s,power_w
check "tune --csv: no other bits" sh -c '! grep -q ,other, out && grep -q ,same, out'
cp out tuned.csv
check "a case in a line" sh -c 'sh "$0" case tuned.csv | grep -q "of the best: chosen stream h"' \
    "$here/../../scripts/validate_table.sh"
mkdir -p table && cp tuned.csv table/pathfinder.none.small.default.csv
check "cases in a table" sh -c 'sh "$0" table table | grep -q "^| pathfinder | none | "' \
    "$here/../../scripts/validate_table.sh"
t predict star2d1r --grid 256,256 --devices cpu:2 --verbose
check "predict --devices: exit code" is $rc 0
for word in "2 slabs" "link     host: " "exchange  share  efficiency" "one process with all threads"; do
    check "predict --devices says $word" says "$word"
done
t predict star2d1r --grid 256,256 --backend cpu --devices 4 --link nvlink --exchange 6 --verbose
check "predict --devices 4 --link" says "4 of them"
check "predict --link: the link" says "link     nvlink: 16 us and 394 GB/s"
check "predict --exchange" says "an exchange after 6 iterations"
check "predict: where more devices gain" says "more devices gain: 2 "
printf 'name = slow\nlatency = 1 ms # by hand\nbandwidth = 1 MB/s # by hand\n' >slow.txt
t predict star2d1r --grid 256,256 --backend cpu --devices 4 --link ./slow.txt --verbose
check "predict --link FILE" says "link     slow: 1 ms and 0.001 GB/s"
refused "predict: unknown link" 1 "did you mean 'nvlink'" predict star2d1r --grid 256,256 --backend cpu --devices 2 --link nvlnk
refused "predict: a link that the record lacks" 1 "has no mpi_latency" predict star2d1r --grid 256,256 --backend cpu --devices 2 \
    --link mpi
refused "predict: a link of one device" 1 "one device has no links" predict star2d1r --grid 256,256 --backend cpu --link nvlink
refused "predict: an exchange of one device" 2 "--exchange goes with --devices" predict star2d1r --grid 256,256 --exchange 4
refused "predict: too many devices" 1 "1 to 64 are possible" predict star2d1r --grid 256,256 --backend cpu --devices 65
refused "predict: thin slabs" 1 "use at most" predict star2d1r --grid 256,64 --height 9 --backend cpu --devices 64
refused "predict: a paper's model for several" 1 "meng2009 describes one device" predict hotspot --grid 256,256 --device gtx280 \
    --model meng2009 --devices 2
t tune star2d1r --grid 96,96 --devices cpu:2 --height 2 --rounds 1 --seconds 0.0001
check "tune --devices" is $rc 0
check "tune --devices: the same bits" says "the same under every plan"
check "tune --devices: what exchanges cost" says "% of the time of the predicted plan"
script tuned.lua <<'END'
local tz = require "trapeze"
local t = tz.tune { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", families = { "stream" }, rounds = 1,
                    seconds = 0.001, threads = 1, boundary = "periodic" }
tz.expect(#t.rows > 3 and t.backend == "cpu" and t.device == "here" and t.different == 0)
local best, compared
for _, row in ipairs(t.rows) do
    compared = compared or row.same_bits
    tz.expect(row.refused or row.measured_s > 0 and row.predicted_s > 0 and row.rounds >= 1)
    tz.expect(row.refused or row.low_s <= row.measured_s and row.measured_s <= row.high_s)
    tz.expect(tz.checking or row.same_bits ~= false and row.family == "stream" and row.gcells_per_s > 0)
    if not row.refused and (not best or row.measured_s < best.measured_s) then best = row end
end
tz.expect(t.best == best and t.share > 0 and t.share <= 1 and t.error_p90 >= t.error_median)
tz.expect(tz.checking or compared)
for _, row in ipairs(tz.tune { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", height = 2, rounds = 1,
                               seconds = 0.001, threads = 1, check = false }.rows) do
    tz.expect(row.same_bits == nil)
end
-- The bits of a NaN depend on the order of operands: nothing is compared, and nothing is a fault.
local explosive = tz.stencil { name = "explosive", dims = 2, fields = { "u" },
                               update = { u = "1e20*u*u - 1e20*u[1,0]*u[0,1]" } }
local e = tz.tune { plugin = explosive, grid = { 96, 64 }, backend = "cpu", rounds = 1, seconds = 0.001, threads = 1 }
tz.expect(tz.checking or e.different == 0 and e.not_finite > 0)
for _, row in ipairs(e.rows) do tz.expect(row.same_bits == nil) end
-- The plan of a row is one that a simulation takes.
local sim = tz.simulation { plugin = "star2d1r", grid = { 96, 64 }, backend = "cpu", threads = 1,
                            height = t.best.height, tile = t.best.tile, family = t.best.family }
tz.expect(sim.height == t.best.height)
END
t run tuned.lua --out tuned-lua
check "tz.tune" is $rc 0
t run tuned.lua --check
check "tz.tune --check: nothing is measured" is $rc 0
t predict star2d1r --grid 256,256 --backend cpu
check "predict for this machine" is $rc 0
check "predict for this machine: the model" says "by the model roofs"
script explained.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "star2d1r", grid = { 128, 96 }, backend = "cpu", height = 3,
                            fields = { u = tz.random { seed = 1, range = { 0, 1 } } } }
sim:run(31)
END
t run explained.lua --quiet --out explained
t explain explained
check "explain" is $rc 0
for word in "star2d1r on 128 x 96, single" "skew, height 3" "10 stages, 30 steps" "because: " "roofs predicts" \
    "better   "; do
    check "explain says $word" says "$word"
done
unset TRAPEZE_DEVICES
refused "explain: no run" 1 "has no run.json" explain nosuch
refused "explain: nothing" 2 "needs a run folder" explain

# ---- a run and its folder ----------------------------------------------------------------------
script first.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 48, 32 }, params = { ambient_k = 318.15 },
                            fields = { temperature = 323.15, power = tz.random { seed = 7, range = { 0, 1e-3 } } } }
sim:every(50, tz.png("temperature", { map = "inferno", range = { 320, 325 }, bar = true, caption = "Chip" }))
sim:every(10, tz.table { "step", "min(temperature)", "max(temperature)", "mean(temperature)", "residual",
                         "hash(temperature)", twice = function(s) return 2 * s.step end })
sim:every(100, tz.npy "temperature")
sim:every(100, tz.vti { "temperature", "power" })
sim:every(100, tz.png("power", { range = "auto", bits = 16 }))
sim:run { steps = tz.args.steps or 100 }
tz.picture { data = sim:array "power", file = "power.png", path = { 0, 1, 2, 3 } }
sim:array("temperature"):save "end.npy"
print("printed", sim:hash())
tz.log("logged", sim.step)
END
t run first.lua
check "run: exit code 0" is $rc 0
check "run: prints" says printed
check "run: logs" errs "logged 100"
check "run: summary" errs "GCells/s; done"
check "run: the summary names the policy and the height" errs ": height "
check "run: the summary names files" errs "  wrote    temperature-NNNNNN.png (3), "
check "run: the summary names the folder" errs "  folder   runs/first-001"
check "run: a short summary" sh -c '[ "$(wc -l <err)" -le 8 ]'
t run first.lua --verbose --out verbose
check "run --verbose: details" errs "  parameters"
refused "run: quiet and verbose" 2 "--quiet or --verbose, not both" run first.lua -q -v
for file in run.json scenario.lua log.txt table.csv temperature-000000.png temperature-000050.png \
    temperature-000100.png temperature-000100.npy hotspot-000100.vti power-000100.png power.png end.npy; do
    check "run wrote $file" test -s "runs/first-001/$file"
done
check "the scenario is copied" cmp -s first.lua runs/first-001/scenario.lua
check "the log has the line" grep -q "logged 100" runs/first-001/log.txt
printf 'require("trapeze").log("only", "said")\n' >says.lua
t run says.lua -q --out said
check "a script that only logs has a log" is "$(cat said/log.txt)" "only said"
check "and a record" grep -q '"status": "done"' said/run.json
printf 'require("trapeze").log "first"\nerror "on purpose"\n' >fails.lua
t run fails.lua -q --out failed-early
check "a script that fails keeps what it said" grep -q "^first$" failed-early/log.txt
t run says.lua --check --out not-said
check "--check makes no folder for it" [ ! -e not-said ]
check "the table has 12 lines" is "$(wc -l <runs/first-001/table.csv)" 12
check "the table's header" is "$(head -1 runs/first-001/table.csv)" \
    "step,min(temperature),max(temperature),mean(temperature),residual,hash(temperature),twice"
check "the table's last row" grep -q '^100,.*,200$' runs/first-001/table.csv
check "run.json is done" grep -q '"status": "done"' runs/first-001/run.json
check "run.json has the seed" grep -q '"seed": 7' runs/first-001/run.json
if command -v python3 >/dev/null; then
    check "run.json is JSON" python3 -c 'import json; json.load(open("runs/first-001/run.json"))'
fi
check "no temporary files" sh -c '! ls -A runs/first-001 | grep -q "^\."'
t run first.lua --quiet
check "--quiet says nothing" lines_err 0
check "a second run has its own folder" test -d runs/first-002
for file in temperature-000050.png power-000100.png power.png table.csv temperature-000100.npy hotspot-000100.vti; do
    check "a rerun gives the same $file" cmp -s "runs/first-001/$file" "runs/first-002/$file"
done
for other in "--height 1" "--height 5" "--backend reference" "--threads 1"; do
    rm -rf other
    # shellcheck disable=SC2086
    t run first.lua -q --out other $other
    check "$other gives the same frame" cmp -s runs/first-001/temperature-000100.png other/temperature-000100.png
    check "$other gives the same table" cmp -s runs/first-001/table.csv other/table.csv
done
t info runs/first-001
check "info RUNDIR" is $rc 0
for word in "status       done" "48 x 32" "ambient_k" "seed 7" "temperature-NNNNNN.png: 3"; do
    check "info RUNDIR says $word" says "$word"
done
t info runs/first-001/temperature-000050.png
for word in "Step         50" "Field        temperature" "Range        320 325" "Map          inferno" "Stencil      hotspot" "Grid         48 x 32" "Unit         K"; do
    check "info FRAME says $word" says "$word"
done
t info runs/first-001/end.npy
check "info ARRAY" says "48 x 32"
t info first.lua
check "info on something else" is $rc 1
t run first.lua --set steps=20 -q --out twenty
check "--set reaches the script" grep -q '^20,' twenty/table.csv
check "--set ends there" sh -c '! grep -q "^30," twenty/table.csv'
t run first.lua --set step=20 --set steps=10 -q --out warned
check "--set never read: a warning" errs "the script never reads tz.args.step; did you mean 'steps'?"

# ---- how runs end ------------------------------------------------------------------------------
script ends.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "poisson", grid = { 19, 19 }, backend = "cpu", fields = { f = -100 },
                            precision = tz.args.precision or "single" }
sim:every(500, tz.table { "step", "residual" })
local r = sim:run { until_residual = 1e-5, max_steps = math.tointeger(tz.args.most or 100000),
                    accept_stagnation = tz.args.accept == "yes" }
print(r.status, r.converged, r.residual == sim:residual())
END
t run ends.lua --out stagnated
check "stagnation: exit code 1" is $rc 1
check "stagnation: status" says "stagnated	false	true"
check "stagnation: a warning" errs "warning: sim1: stagnated at residual"
check "stagnation: the summary" errs "single precision ends here"
check "stagnation: run.json" grep -q '"status": "stagnated"' stagnated/run.json
check "residuals in a table, of step 0, too" grep -q '^0,100' stagnated/table.csv
t run ends.lua --set accept=yes --out accepted
check "accepted stagnation: exit code 0" is $rc 0
check "accepted stagnation: no warning" sh -c '! grep -q warning "$0"' "$work/err"
t run ends.lua --set precision=double --out converged
check "convergence: exit code 0" is $rc 0
check "convergence: status" says "converged	true	true"
check "convergence: the summary" errs "converged: residual"
t run ends.lua --set most=50 --out short
check "max_steps: exit code 0" is $rc 0
check "max_steps: status" says "max_steps	false	true"

# ---- policies ----------------------------------------------------------------------------------
cat >policy.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 128, 96 }, height = 2, backend = "cpu",
                            fields = { temperature = tz.random { seed = 7, range = { 320, 330 } }, power = 1e-3 } }
sim:run(tonumber(tz.args.steps or 60))
print(sim:hash(), sim:policy().policy, sim.height)
END
export TRAPEZE_CACHE="$work/measured"
t run policy.lua -q --out fixed
check "a height in the script is kept" says "fixed	2"
wanted=$(cut -f1 out)
for policy in auto fixed predicted adaptive meng exhaustive; do
    t run policy.lua -q --policy "$policy" --out "policy-$policy"
    check "--policy $policy" is $rc 0
    check "--policy $policy: the same bits" says "$wanted"
    check "--policy $policy is in run.json" grep -q '"name": "'"$(cut -f2 out)"'"' "policy-$policy/run.json"
    check "--policy $policy: a first decision with its reason" sh -c \
        "grep -A40 '\"decisions\"' 'policy-$policy/run.json' | grep -q '\"reason\": \"[^\"]'"
    t info "policy-$policy"
    check "--policy $policy: info" says "policy       "
done
for height in auto predicted adaptive meng exhaustive 3; do
    t run policy.lua -q --height $height --out "height-$height"
    check "--height $height: the same bits" says "$wanted"
done
check "--height N is fixed" says "fixed	3"
t run policy.lua -q --policy adaptive --height 5 --set steps=5 --out from-5
check "--height N starts an adaptive policy" says "adaptive	5"
check "run.json says where it started" grep -q "from height 5 as given" from-5/run.json
t run policy.lua --policy adaptive --check
check "--check names the policy" says "policy adaptive: "
t run policy.lua --check
check "--check names a fixed height" says "policy fixed: height 2"
refused "bad policy" 2 "unknown policy 'adaptiv'; did you mean 'adaptive'?" run ../policy.lua --policy adaptiv
refused "bad height name" 2 "did you mean 'exhaustive'?" run ../policy.lua --height exhaustiv
t run policy.lua --policy exhaustive --height 4 --set steps=4000 --out measured-1
check "exhaustive measures" errs "measured as best of"
t run policy.lua --policy exhaustive --height 4 --set steps=20 --out measured-2
check "exhaustive remembers" errs "remembered as best of"
t run policy.lua --policy exhaustive --height 4 --threads 1 --set steps=20 --out measured-3
check "other threads are something else" errs "plans measured"
t run policy.lua --policy exhaustive --height 4 --set steps=4 --forget --out measured-4
check "--forget measures anew" errs "plans measured"
t run policy.lua --policy exhaustive --height 4 --set steps=4 --out measured-5
check "--forget forgets" errs "plans measured"
t run policy.lua -q --policy exhaustive --height 4 --set steps=4000 --out measured-torn
for file in measured/plans/*.json; do
    check "there is a memory to tear" [ -e "$file" ]
    printf '{"format": "trapeze plans 1", "key' >"$file"
done
t run policy.lua --policy exhaustive --height 4 --set steps=4000 --out measured-6
check "a torn memory is no error" is $rc 0
check "a torn memory is a miss" errs "measured as best of"
t run policy.lua --policy exhaustive --height 4 --set steps=20 --out measured-7
check "and is replaced" errs "remembered as best of"
rm -rf measured
"$bin" run policy.lua -q --policy exhaustive --set steps=100000000 --out stopped >out 2>err </dev/null &
search=$!
sleep 0.5
kill -INT $search
wait $search
rc=$?
check "an interrupted search ends" is $rc 130
check "an interrupted search leaves a complete memory or none" sh -c \
    '[ ! -d measured/plans ] || ! ls -A measured/plans | grep -v "^[0-9a-f]*\.json$"'
rm -rf measured
t run policy.lua --policy exhaustive --set steps=800 --out cut-short
check "a search may be cut short" errs "plans measured, height"
t run policy.lua --policy exhaustive --set steps=800 --out gone-on
check "a search that was cut short is gone on with" errs "of them before"
check "run.json says what is remembered" grep -q '"plans_remembered": [1-9]' gone-on/run.json
cat >asks.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 32, 32 }, backend = "cpu",
                            policy = function(s)
                                if s.step >= 20 then error("too far") end
                                return { height = s.step < 8 and 2 or 4 }
                            end }
sim:run(100)
END
t run asks.lua --out asked
check "a function's error ends the run" is $rc 1
check "a function's error has its line" errs "asks.lua:4: too far"
check "a function's decisions are kept" grep -q '"reason": "function at asks.lua:3"' asked/run.json
t info asked
check "info tells them" says "skew 2 → skew 4, function at asks.lua:3"
unset TRAPEZE_CACHE

# ---- simulated time ----------------------------------------------------------------------------
script time.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 16, 16 }, params = { dt_s = 1e-6 } }
sim:every("1 ms", tz.png("temperature", { zoom = 16, caption = tz.args.caption }))
sim:every(500, tz.table { "time", "step" })
sim:run { until_time = "2 ms" }
sim:params { dt_s = 5e-7 }
sim:run { until_time = "2.5 ms" }
END
t run time.lua --out time --set 'caption=after {time}: step {step}'
check "until_time" is $rc 0
check "until_time: steps" errs "3000 steps in"
check "until_time: the last frame of every millisecond" [ -e time/temperature-002000.png ]
check "until_time: the column" is "$(tail -n 1 time/table.csv)" 0.0025,3000
check "until_time: run.json" grep -q '"time": 0.0025' time/run.json
check "until_time: run.json says the intervals" grep -q '"every_time": 0.001' time/run.json
t info time
check "until_time: info" says "time         0.0025 s"
t info time/temperature-001000.png
check "until_time: a frame's facts" says "Time         0.001 s"
t run time.lua --out literal --set 'caption=after 1 ms: step 1000'
check "captions are filled in" cmp -s time/temperature-001000.png literal/temperature-001000.png
t run time.lua --check --set 'caption={time}'
check "until_time --check" says "runs 1000 steps from step 2000"
check "until_time --check: outputs" says "every 1 ms: temperature-NNNNNN.png, 3 files"
refused "captions: an unknown word" 1 "unknown placeholder {tme}; did you mean 'time'?" run ../time.lua --set 'caption={tme}'

# ---- --check -----------------------------------------------------------------------------------
mkdir checked && cp first.lua checked && cd checked || exit 1
t run first.lua --check
mv out err ..
cd ..
check "--check: exit code 0" is $rc 0
for word in "grid 48 x 32" "memory" "plan " "height" "temperature-NNNNNN.png, 3 files" "table.csv, 11 rows" "writes power.png" "boundary clamp"; do
    check "--check says $word" says "$word"
done
check "--check writes nothing" is "$(ls -A checked)" first.lua

# ---- the run folder ----------------------------------------------------------------------------
t run first.lua --out runs/first-001
check "a full folder is refused" is $rc 1
check "a full folder: why" errs "is not empty"
mkdir empty
t run first.lua -q --out empty
check "an empty folder is taken" is $rc 0
t run first.lua --out first.lua
check "a file is no folder" errs "is a file"
t run first.lua --out first.lua/below
check "a folder below a file: exit code 1" is $rc 1
check "a folder below a file: why" errs "first.lua"
check "a folder below a file: one line" lines_err 1
mkdir locked && chmod a-w locked
if touch locked/x 2>/dev/null; then
    rm -f locked/x
    skip "an unwritable folder" "this user may write everywhere"
else
    t run first.lua --out locked/x
    check "an unwritable folder" is $rc 1
fi
chmod u+w locked

# ---- a full disk -------------------------------------------------------------------------------
script big.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 300, 300 }, fields = { power = tz.random { seed = 1, range = { 0, 1 } } } }
sim:every(1, tz.table { "step", "max(power)" })
sim:every(5, tz.png("power", { range = "auto" }))
sim:run(100)
END
(
    ulimit -f 40 # blocks of 512 bytes
    "$bin" run big.lua -q --out full >out 2>err
    echo $? >code
)
rc=$(cat code)
check "full disk: exit code 1" is "$rc" 1
check "full disk: says so" errs "cannot write"
check "full disk: one line" lines_err 1
check "full disk: no half frame, no temporary file" sh -c '! ls -A full | grep -Eq "^\.|png"'
check "full disk: run.json says failed" grep -q '"status": "failed"' full/run.json
(
    ulimit -f 0
    "$bin" run big.lua -q --out nothing >/dev/null 2>&1
    echo $? >/dev/null
)
check "a disk with no room at all: no folder is left" absent nothing
script bigtable.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 } }
sim:every(1, tz.table { "step", "hash", word = function() return ("x"):rep(50) end })
sim:run(2000)
END
(
    ulimit -f 40
    "$bin" run bigtable.lua -q --out fulltable >out 2>err
    echo $? >code
)
rc=$(cat code)
check "full disk, table: exit code 1" is "$rc" 1
check "full disk, table: complete lines only" sh -c 'tail -c 1 fulltable/table.csv | od -c | grep -q "\\\\n"'

check "full disk, table: run.json says failed and why" grep -q '"error": ".*cannot write the table' fulltable/run.json
# A real one, where this user may mount it.
mkdir -p disk
if mount -t tmpfs -o size=96k none disk 2>/dev/null; then
    for kind in big bigtable; do
        t run $kind.lua -q --out disk/$kind
        check "full file system, $kind: exit code 1" is $rc 1
        check "full file system, $kind: names the file" errs "disk/$kind/"
        check "full file system, $kind: says why" errs "No space left on device"
        check "full file system, $kind: run.json says failed" grep -q '"status": "failed"' disk/$kind/run.json
        check "full file system, $kind: run.json says why" grep -q '"error": ".*No space left' disk/$kind/run.json
        t info disk/$kind
        check "full file system, $kind: the record is whole" is $rc 0
        rm -r disk/$kind
    done
    umount disk
fi

# ---- scripts that fail -------------------------------------------------------------------------
echo 'local x = = 3' | script syntax.lua
refused "syntax error" 1 "syntax.lua:1: unexpected symbol" run ../syntax.lua
script runtime.lua <<'END'
local function deep(x)
    return x.y.z
end
local function shallow() return (deep({})) end
shallow()
END
t run runtime.lua
check "run-time error: exit code 1" is $rc 1
check "run-time error: the line" errs "trapeze: runtime.lua:2: attempt to index a nil value"
check "run-time error: traceback" errs "    	runtime.lua:4: in"
check "run-time error: no folder" absent runs/runtime-001
script expect.lua <<'END'
local tz = require "trapeze"
tz.expect(true)
tz.expect(1 == 2, "one is not two")
END
refused "a failed expectation" 1 "expect.lua:3: expectation failed: one is not two" run ../expect.lua
printf 'local tz = require "trapeze"\nlocal function good()\n  tz.expect(false)\nend\ngood()\n' >silent.lua
refused "an expectation without a message" 1 "silent.lua:3: expectation failed: the condition is false" run ../silent.lua
printf 'print(1)\nos.execute "ls"\n' >execute.lua
t run execute.lua
check "os.execute: exit code" is $rc 1
check "os.execute: its line and what opens it" errs "execute.lua:2: os.execute is closed to scenarios, since it can change files or start programs; 'trapeze run --unsafe' opens"
t run execute.lua --unsafe
check "os.execute --unsafe" is $rc 0
check "os.execute --unsafe: it runs" says execute.lua
script unknown.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, hieght = 3 }
END
refused "an unknown key" 1 "unknown.lua:2: tz.simulation: unknown key 'hieght'; did you mean 'height'?" run ../unknown.lua
script words.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, name = tz.args.words, params = { ambient_k = 318.15 } }
sim:run(3)
END
t run words.lua -q --set 'words=say "1.50" and \ 2.50e3' --out worded
check "run.json: numbers in words stay" grep -qF '"name": "say \"1.50\" and \\ 2.50e3"' worded/run.json
check "run.json: numbers are short" grep -q "318\.15[,}]*$" worded/run.json

script diverge.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, params = { dt_s = 1, allow_unstable = true },
                            fields = { power = tz.random { seed = 1, range = { 0, 1 } } } }
sim:every(1, tz.table { "step" })
sim:run(1000)
END
t run diverge.lua -q --out diverged
check "a diverging run: exit code 1" is $rc 1
check "a diverging run: which field" errs "field 'temperature' is not finite at cell ("
check "a diverging run: run.json" grep -q '"status": "failed"' diverged/run.json
printf 'nonsense' >bad.npy
printf '1 2 three\n' >bad.txt
printf 'x = 3, y = 1, rule = B3/S23\n9o!\n' >bad.rle
printf 'not a png' >bad.png
for file in bad.npy bad.txt bad.rle bad.png gone.npy; do
    printf 'local tz = require "trapeze"\ntz.read("%s")\n' "$file" | script read.lua
    refused "tz.read of $file" 1 "$file" run ../read.lua
done
printf '1\n2\n3\n' >three.txt
script short.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "hotspot", grid = { 2, 2 }, fields = { power = tz.read "three.txt" } }
END
refused "too few numbers" 1 "three.txt has 3 numbers, the grid needs 2 x 2" run ../short.lua
script empty.lua </dev/null
t run empty.lua
check "an empty script is fine" is $rc 0
printf '#!/usr/bin/env trapeze\nlocal tz = require "trapeze"\nerror("line 3")\n' | script bang.lua
t run bang.lua
check "a first line with #! keeps the numbering" errs "bang.lua:3: line 3"
printf '\033Lua' | script compiled.lua
t run compiled.lua
check "compiled code is refused" is $rc 1

# ---- the sandbox -------------------------------------------------------------------------------
echo 'return { answer = 42 }' | script mymodule.lua
script unsafe.lua <<'END'
local tz = require "trapeze"
assert(require "mymodule".answer == 42)
assert(io.open and os.execute and package.loadlib and debug)
END
t run unsafe.lua
check "without --unsafe: no io" is $rc 1
t run unsafe.lua --unsafe
check "with --unsafe: all libraries" is $rc 0
mkdir -p elsewhere
cp mymodule.lua elsewhere/other.lua
echo 'assert(require "other".answer == 42)' >elsewhere/uses_module.lua
t run elsewhere/uses_module.lua
check "modules are found in the script's folder" is $rc 0

# ---- files that are none -----------------------------------------------------------------------
mkfifo pipe.lua pipe.npy pipe.png pipe.so pipe.txt
mkdir -p pipes
mkfifo pipes/run.json pipes/bad.so
for arguments in "run pipe.lua" "info pipe.npy" "info pipe.png" "info pipes" "explain pipes" \
    "predict hotspot --grid 64,64 --device ./pipe.txt" "run pipes" "run /dev/zero"; do
    # shellcheck disable=SC2086
    timeout 20 "$bin" $arguments >out 2>err </dev/null
    rc=$?
    check "$arguments: exit code 1" is $rc 1
    check "$arguments: says what it is" grep -Eq "it is a (named pipe|directory|device), not a regular file" err
done
for file in pipe.npy pipe.png pipe.txt /dev/null; do
    echo "require('trapeze').read '$file'" | script reads.lua
    timeout 20 "$bin" run reads.lua >out 2>err </dev/null
    rc=$?
    check "tz.read $file: exit code 1" is $rc 1
    check "tz.read $file: says what it is" errs ", not a regular file"
done
echo 'require "pipe"' | script requires.lua
timeout 20 "$bin" run requires.lua >out 2>err </dev/null
rc=$?
check "require of a pipe: exit code 1" is $rc 1
check "require of a pipe: says what it is" errs "it is a named pipe"
head -c 20000 "$(dirname "$bin")/../plugins/hotspot.so" >pipes/cut.so 2>/dev/null
timeout 20 "$bin" plugins --plugins pipes >out 2>err </dev/null
check "plugins: a pipe is refused" says "pipes/bad.so: cannot read: it is a named pipe"
check "plugins: a file that is cut off is refused" says "pipes/cut.so: is cut off"
check "plugins: the others are there" says "hotspot: Temperature of a chip"
timeout 20 "$bin" run first.lua --plugins pipes -q >out 2>err </dev/null
rc=$?
check "a run with bad files among its plugins" is $rc 0

# ---- threads -----------------------------------------------------------------------------------
# A limit on processes holds for a user who is not root.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null; then
    mkdir -p few && chmod 777 few . && cp first.lua few/
    (cd few && timeout 20 setpriv --reuid=54321 --clear-groups prlimit --nproc=6 \
        "$bin" run first.lua --threads 32 --backend cpu -q >../out 2>../err </dev/null)
    rc=$?
    check "too many threads: exit code 1" is $rc 1
    check "too many threads: says so" errs "32 threads cannot be started here"
    check "too many threads: one line of error" sh -c '[ "$(grep -c "^trapeze:" err)" -eq 1 ]'
fi

# ---- signals -----------------------------------------------------------------------------------
# after SIGNAL SECONDS ARGUMENT…: start the program, send the signal after SECONDS, wait for its end.
after() {
    signal=$1 seconds=$2
    shift 2
    "$bin" "$@" >out 2>err </dev/null &
    pid=$!
    sleep "$seconds"
    kill -s "$signal" $pid
    wait $pid
    rc=$?
}
echo 'while true do pcall(function() while true do end end) end' | script loop.lua
after INT 0.5 run loop.lua
check "an endless loop and SIGINT: 130" is $rc 130
check "an endless loop: where" errs "loop.lua:1: interrupted"
echo 'coroutine.wrap(function() while true do end end)()' | script coloop.lua
after INT 0.5 run coloop.lua
check "an endless coroutine and SIGINT: 130" is $rc 130
script long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 64 }, fields = { power = 1e-4 } }
sim:every(1000, tz.png())
sim:every(10, tz.table { "step", "max(temperature)" })
sim:run { steps = 1000000000 }
END
# Nothing interrupts a pattern that never ends, or a finalizer: the second signal ends the process.
# twice SIGNAL ARGUMENT…: send the signal, and again a second later; the exit code is in $rc.
twice() {
    signal=$1
    shift
    "$bin" "$@" >out 2>err </dev/null &
    pid=$!
    sleep 0.5
    kill -s "$signal" $pid
    sleep 1
    kill -s "$signal" $pid 2>/dev/null
    (sleep 10 && kill -s KILL $pid 2>/dev/null) &
    guard=$!
    wait $pid
    rc=$?
    kill $guard 2>/dev/null
}
echo 'print(#string.find(("a"):rep(50000), (".-"):rep(50) .. "b"))' | script pattern.lua
twice TERM run pattern.lua
check "an endless pattern and two SIGTERM: 143" is $rc 143
echo 'setmetatable({}, { __gc = function() while true do end end }) collectgarbage()' | script finalizer.lua
twice INT run finalizer.lua
check "an endless finalizer and two SIGINT: 130" is $rc 130
after KILL 0.7 run long.lua -q --out killed/one
check "SIGKILL: 137" is $rc 137
check "SIGKILL: run.json says running" grep -q '"status": "running"' killed/one/run.json
mkdir -p killed/two killed/other
for folder in one two other; do echo half >killed/$folder/.x.png.tmp-1-0; done
cp long.lua killed/two/scenario.lua
t run first.lua --out killed/three
check "the next run sweeps: exit code" is $rc 0
check "the next run sweeps: temporary files of killed runs are gone" sh -c '! ls -A killed/one killed/two | grep -q "^\."'
check "the next run sweeps: other folders are left alone" test -e killed/other/.x.png.tmp-1-0
after TERM 1 run long.lua --out term
check "SIGTERM in a run: 143" is $rc 143
check "SIGTERM: run.json says interrupted" grep -q '"status": "interrupted"' term/run.json
check "SIGTERM: the table is there" sh -c '[ "$(wc -l <term/table.csv)" -gt 2 ]'
check "SIGTERM: the table ends with a line" sh -c 'tail -c 1 term/table.csv | od -c | grep -q "\\\\n"'
check "SIGTERM: no temporary files" sh -c '! ls -A term | grep -q "^\."'
check "SIGTERM: one line of error" sh -c '[ "$(grep -c "^trapeze: long.lua" err)" -eq 1 ]'
after INT 1 run long.lua -q --out int
check "SIGINT in a run: 130" is $rc 130
check "SIGINT: run.json says interrupted" grep -q '"status": "interrupted"' int/run.json
t info int
check "info of an interrupted run" says "status       interrupted"

# ---- calibrate ---------------------------------------------------------------------------------
export TRAPEZE_DEVICES="$work/devices"
refused "calibrate: an argument" 2 "takes no argument" calibrate x
refused "calibrate: costs of a CPU" 2 "--costs measures GPUs" calibrate --cpu --costs
refused "calibrate: two devices" 2 "--cpu and --device exclude each other" calibrate --cpu --device 0
refused "calibrate: no number" 2 "--device needs an integer" calibrate --device gpu
refused "calibrate: no time" 2 "--seconds needs an integer from 1" calibrate --seconds 0
refused "calibrate: a name with a folder" 2 "--name needs up to 63 letters" calibrate --name ../x
refused "calibrate: an empty name" 2 "--name needs up to 63 letters" calibrate --name ''
refused "calibrate: no file" 2 "--output needs a file" calibrate --output ''
refused "calibrate: a GPU that is not there" 1 "trapeze: " calibrate --device 99 --output x
check "calibrate: what is not there" grep -qE 'no NVIDIA|there is no GPU 99' err
begin=$(date +%s)
refused "calibrate: no such folder" 1 "cannot write" calibrate --cpu --seconds 600 --output no/x.txt
check "calibrate: no such folder: before it measures" [ $(($(date +%s) - begin)) -lt 300 ]
echo kept >taken
refused "calibrate: a file that exists" 1 "exists already" calibrate --cpu --output ../taken
check "calibrate: it is as it was" grep -qx kept taken
check "calibrate: nothing was kept" absent devices
t doctor
check "doctor: no record of the CPU" says "CPU: none (no device record describes"
check "doctor: what to do" says "run trapeze calibrate --cpu"
t calibrate --cpu --seconds 1 --output -
check "calibrate to stdout" is $rc 0
check "calibrate to stdout: the record" says "fp32_rate "
check "calibrate to stdout: where numbers are from" says "# measured: "
check "calibrate to stdout: two lines of summary" lines_err 2
if [ "$(nproc)" -gt 1 ]; then
    check "calibrate to stdout: exchanges" says "host_latency "
    check "calibrate to stdout: what joins slabs" errs "link host: an exchange takes"
else
    check "calibrate to stdout: no exchanges" errs "exchanges between devices are skipped: this process may use one core"
fi
check "calibrate to stdout: nothing was kept" absent devices
after INT 1 calibrate --cpu --seconds 60 --name mine
check "calibrate and SIGINT: 130" is $rc 130
check "calibrate and SIGINT: says so" errs "interrupted; nothing was written"
check "calibrate and SIGINT: nothing was kept" absent devices
mkdir devices && cp known/here.txt devices/mine.txt
t calibrate --cpu --seconds 1 --name mine
check "calibrate" is $rc 0
check "calibrate: says where the record is" errs "$work/devices/mine.txt"
check "calibrate: nothing on stdout" [ ! -s out ]
check "calibrate: no temporary files" is "$(ls -A devices | tr '\n' ' ')" "mine.txt mine.txt~ "
check "calibrate: the previous stays" cmp -s known/here.txt devices/mine.txt~
check "calibrate: the record is new" [ "$(wc -l <devices/mine.txt)" -gt 10 ]
t doctor
check "doctor: the record of the CPU" says "CPU: mine"

# ---- from another folder -----------------------------------------------------------------------
mkdir -p away && printf '1 2\n3 4\n' >data.txt
script relative.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 2, 2 }, fields = { power = tz.read "data.txt" } }
tz.expect(sim:get("power", 1, 1) == 4)
END
cd away || exit 1
"$bin" run ../relative.lua >../out 2>../err
rc=$?
cd ..
check "tz.read is relative to the script" is $rc 0

finish
