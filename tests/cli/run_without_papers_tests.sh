#!/bin/sh
# The program without the papers' models: what it has, and how it refuses what it has not.
#   run_without_papers_tests.sh TRAPEZE NM
set -u
nm=$2
set -- "$1"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/command_support.sh"
cpu="$here/../predict/cpu.txt"

"$nm" "$bin" >symbols
check "nothing of the papers is linked" sh -c '! grep -qE "meng|luo2011|tabik|tz_ptx" symbols'
left="this program was built without the papers'"
refused "predict --model" 2 "unknown model 'meng2011'; known: roofs ($left models)" predict hotspot --grid 9,9 --model meng2011
refused "predict: an option of a paper's model" 2 "unknown option --halo" predict hotspot --grid 9,9 --halo 4
refused "predict: a device for the papers' models" 1 "no compute_capability to compile for ($left models)" predict hotspot \
    --grid 99,99 --device gtx280
refused "predict --measure" 2 "--measure goes with --jump; trapeze tune measures plans" predict hotspot --grid 9,9 --measure
refused "tune --model" 2 "tuning takes no model, not 'tabik2015' ($left models)" tune gx --grid 64,64,64 --model tabik2015
refused "predict: a family of the papers" 2 "unknown family 'tile'; known: stream, direct, resident" predict hotspot --grid 9,9 \
    --family tile
refused "calibrate --costs" 2 "unknown option --costs" calibrate --costs
script policy.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, backend = "cpu", policy = tz.args.policy,
                            fields = { temperature = tz.random { seed = 7, range = { 320, 330 } }, power = 1e-3 } }
sim:run(60)
print(sim:hash(), sim:policy().policy)
END
t run policy.lua --set policy=meng --out refused
check "a scenario's policy" errs "unknown policy 'meng'; known: auto, predicted, adaptive, exhaustive, fixed ($left policies)"
export TRAPEZE_CACHE="$work/measured"
for policy in auto fixed predicted adaptive exhaustive; do
    t run policy.lua -q --set policy=$policy --out "run-$policy"
    check "policy $policy" is $rc 0
    wanted=${wanted:-$(cut -f1 out)}
    check "policy $policy: the same bits" says "$wanted"
done
t predict hotspot --grid 2000,2000 --device "$cpu" --verbose
check "a prediction" says "model    roofs"
t predict --help
check "help names no model of the papers" sh -c '! grep -qE "meng|luo|tabik|paper" out'
finish
