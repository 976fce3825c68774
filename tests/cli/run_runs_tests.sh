#!/bin/sh
# Tests of the command line: runs, their folders, ends and policies, full disks: run_runs_tests.sh TRAPEZE [BADPLUGINS_DIR]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/command_support.sh"

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
expect "run" rc 0 says printed errs "logged 100" errs " steps, done" errs " GCells/s by " errs " at a time (" \
    errs "  in runs/first-001: temperature-NNNNNN.png (3), "
check "run: a short summary" is "$(grep -vc logged err)" 3
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
expect "info RUNDIR" rc 0 says "status       done" says "48 x 32" says "ambient_k" says "seed 7" \
    says "temperature-NNNNNN.png: 3"
t info runs/first-001/temperature-000050.png
expect "info FRAME" says "Step         50" says "Field        temperature" says "Range        320 325" \
    says "Map          inferno" says "Stencil      hotspot" says "Grid         48 x 32" says "Unit         K"
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
expect "stagnation" rc 1 says "stagnated	false	true" errs "warning: sim1: stagnated at residual" \
    errs "single precision ends here"
check "stagnation: run.json" grep -q '"status": "stagnated"' stagnated/run.json
check "residuals in a table, of step 0, too" grep -q '^0,100' stagnated/table.csv
t run ends.lua --set accept=yes --out accepted
check "accepted stagnation: exit code 0" is $rc 0
check "accepted stagnation: no warning" sh -c '! grep -q warning "$0"' "$work/err"
t run ends.lua --set precision=double --out converged
expect "convergence" rc 0 says "converged	true	true" errs "converged: residual"
t run ends.lua --set most=50 --out short
expect "max_steps" rc 0 says "max_steps	false	true"

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
policies=$("$bin" run --help | sed -n 's/.*them: \(auto.*\)/\1/; t list; d; : list; s/,//g; p')
for policy in fixed $policies; do
    t run policy.lua -q --policy "$policy" --out "policy-$policy"
    expect "--policy $policy" rc 0 says "$wanted"
    check "--policy $policy is in run.json" grep -q '"name": "'"$(cut -f2 out)"'"' "policy-$policy/run.json"
    check "--policy $policy: a first decision with its reason" sh -c \
        "grep -A40 '\"decisions\"' 'policy-$policy/run.json' | grep -q '\"reason\": \"[^\"]'"
    t info "policy-$policy"
    check "--policy $policy: info" says "policy       "
done
for height in $policies 3; do
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
# What Lua itself finds, and what is behind it.
echo 'local sim = tz.simulation { plugin = "life", grid = { 8, 8 } }' >forgot.lua
t run forgot.lua
check "no require" errs ': begin the script with local tz = require "trapeze"'
printf 'local tz = require "trapeze"\nlocal sim = tz.simulation { plugin = "life", grid = { 8, 8 } }\n%s\n' 'sim:step(tz.args.n or 4)' >step.lua
t run step.lua
check "a value is called" errs "sim.step is a value; sim:run(10) computes 10 steps"
printf 'local tz = require "trapeze"\nprint(tz.args.feed * 2)\n' >unset.lua
t run unset.lua
check "a --set that is missing" errs "give it with --set feed=VALUE, or write tz.args.feed or 1"
t run policy.lua --threads 1000 --set steps=1 --out crowd
expect "many threads" rc 0 errs "threads on" errs "processors take turns"
refused "bad policy" 2 "unknown policy 'adaptiv'; did you mean 'adaptive'?" run ../policy.lua --policy adaptiv
refused "bad height name" 2 "did you mean 'exhaustive'?" run ../policy.lua --height exhaustiv
t run policy.lua --policy exhaustive --height 4 --set steps=4000 --out measured-1
check "exhaustive measures" errs "measured as best of"
t run policy.lua --policy exhaustive --height 4 --set steps=20 --out measured-2
check "exhaustive remembers" errs "remembered as best of"
t doctor
check "doctor: plans" grep -q "plans .*[1-9] remembered, [0-9]" out
t run policy.lua --policy exhaustive --height 4 --set steps=4 --forget --out measured-3
check "--forget measures anew" errs "plans measured"
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
expect "a function's error ends the run" rc 1 errs "asks.lua:4: too far"
check "a function's decisions are kept" grep -q '"reason": "function at asks.lua:3"' asked/run.json
t info asked
check "info tells them" says "diamond 2 → diamond 4, function at asks.lua:3"
mkdir timed
for time in "2.5e-06 2.5 us" "2.5e-03 2.5 ms"; do
    sed "s/\"seconds_per_iteration\": [^,]*/\"seconds_per_iteration\": ${time%% *}/" asked/run.json >timed/run.json
    t info timed
    check "info tells its time: ${time#* }" says "(${time#* } an iteration)"
done
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
expect "until_time" rc 0 errs "3000 steps"
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
expect "until_time --check" says "runs 1000 steps from step 2000" says "every 1 ms: temperature-NNNNNN.png, 3 files"
refused "captions: an unknown word" 1 "unknown placeholder {tme}; did you mean 'time'?" run ../time.lua --set 'caption={tme}'

# ---- --check -----------------------------------------------------------------------------------
mkdir checked && cp first.lua checked && cd checked || exit 1
t run first.lua --check
mv out err ..
cd ..
expect "--check" rc 0 says "grid 48 x 32" says "memory" says "plan " says "height" says "temperature-NNNNNN.png, 3 files" \
    says "table.csv, 11 rows" says "writes power.png" says "boundary clamp"
check "--check writes nothing" is "$(ls -A checked)" first.lua

# ---- the run folder ----------------------------------------------------------------------------
t run first.lua --out runs/first-001
expect "a full folder is refused" rc 1 errs "is not empty"
mkdir empty
t run first.lua -q --out empty
check "an empty folder is taken" is $rc 0
t run first.lua --out first.lua
check "a file is no folder" errs "is a file"
t run first.lua --out first.lua/below
expect "a folder below a file" rc 1 errs "first.lua" lines_err 1
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
expect "full disk" rc 1 errs "cannot write" lines_err 1
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

# ---- files that are none -----------------------------------------------------------------------
mkfifo pipe.lua pipe.npy pipe.txt
mkdir -p pipes
mkfifo pipes/run.json pipes/bad.so
for arguments in "run pipe.lua" "info pipe.npy" "explain pipes" "predict hotspot --grid 64,64 --device ./pipe.txt" "run pipes" "run /dev/zero"; do
    # shellcheck disable=SC2086
    timeout 600 "$bin" $arguments >out 2>err </dev/null
    rc=$?
    check "$arguments: exit code 1" is $rc 1
    check "$arguments: says what it is" grep -Eq "it is a (named pipe|directory|device), not a regular file" err
done
echo 'require "pipe"' | script requires.lua
timeout 600 "$bin" run requires.lua >out 2>err </dev/null
rc=$?
expect "require of a pipe" rc 1 errs "it is a named pipe"
head -c 20000 "$(dirname "$bin")/../plugins/hotspot.so" >pipes/cut.so 2>/dev/null
timeout 600 "$bin" plugins --plugins pipes >out 2>err </dev/null
expect "plugins" says "pipes/bad.so: cannot read: it is a named pipe" says "pipes/cut.so: is cut off" says "hotspot: "
timeout 600 "$bin" run first.lua --plugins pipes -q >out 2>err </dev/null
rc=$?
check "a run with bad files among its plugins" is $rc 0

# ---- threads -----------------------------------------------------------------------------------
# A limit on processes holds for a user who is not root.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null; then
    mkdir -p few && chmod 777 few . && cp first.lua few/
    (cd few && timeout 600 setpriv --reuid=54321 --clear-groups prlimit --nproc=6 \
        "$bin" run first.lua --threads 32 --backend cpu -q >../out 2>../err </dev/null)
    rc=$?
    expect "too many threads" rc 1 errs "32 threads cannot be started here"
    check "too many threads: one line of error" sh -c '[ "$(grep -c "^trapeze:" err)" -eq 1 ]'
fi

finish
