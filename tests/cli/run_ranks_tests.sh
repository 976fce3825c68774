#!/bin/sh
# Tests of runs of several ranks: what is printed and written, refusals, failures, signals.
#
#   run_ranks_tests.sh TRAPEZE
#
# Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
cd "$work" || exit 1
if ! command -v mpirun >/dev/null 2>&1; then
    skip 'runs of several ranks' 'no mpirun'
    finish
fi
t doctor --verbose
if says 'built without MPI'; then
    skip 'runs of several ranks' 'built without MPI'
    finish
fi
# More ranks than cores, as root, in a container; leaks of MPI are no matter here.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0 TRAPEZE_CACHE="$work/cache"

# m COUNT ARGUMENT…: runs that many ranks.
m() {
    ranks=$1
    shift
    timeout 120 mpirun -n "$ranks" "$bin" "$@" >out 2>err </dev/null
    rc=$?
}
n() { # n RANK-0-ARGUMENTS : RANK-1-ARGUMENTS, each with the program
    timeout 120 mpirun -n 1 "$@" >out 2>err </dev/null
    rc=$?
}
once() { [ "$(grep -cF -- "$1" out)" -eq 1 ]; }
errs_once() { [ "$(grep -cF -- "$1" err)" -eq 1 ]; }
fails() { [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ]; }
same_files() { # same_files DIR DIR: but for times
    diff -rq -x run.json -x log.txt "$1" "$2" >diffs || { cat diffs; return 1; }
}

cat >run.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, backend = "cpu", policy = "adaptive",
    fields = { temperature = tz.random { seed = 3, range = { 320, 340 } }, power = 1e-4 } }
sim:every(50, tz.png("temperature"))
sim:every(50, tz.npy("temperature"))
sim:every(50, tz.vti("temperature"))
sim:every(20, tz.table { "step", "max(temperature)", "hash(temperature)", "residual",
    half = function(s) return s:get("temperature", 1, 2) / 2 end })
local result = sim:run(200)
print("hash " .. sim:hash("temperature"))
sim:array("temperature"):save("end.npy")
tz.picture { data = sim:array("temperature"), file = "end.png" }
tz.log("done")
tz.expect(sim.step == 200 and result.steps == 200)
END
t run run.lua --out alone
check 'alone: exit code' is "$rc" 0
alone=$(cat out)
for ranks in 2 3; do
    m $ranks run run.lua --out "by$ranks"
    check "$ranks ranks: exit code" is "$rc" 0
    check "$ranks ranks print once" is "$(cat out)" "$alone"
    check "$ranks ranks sum up once" errs_once '200 steps in'
    check "$ranks ranks write the same files" same_files alone "by$ranks"
    check "$ranks ranks: the record says done" grep -q '"status": "done"' "by$ranks/run.json"
    check "$ranks ranks log once" is "$(grep -c done "by$ranks/log.txt")" 1
done
m 1 run run.lua --out by1
check 'one rank: exit code' is "$rc" 0
check 'one rank writes the same files' same_files alone by1

# Each rank writes its own cells of .npy files and checkpoints, of every kind of field.
cat >own.lua <<'END'
local tz = require "trapeze"
local B, R = tz.random { seed = 3, density = 0.4 }, tz.random { seed = 4, range = { 0.25, 0.5 } }
local sims = {
    { "life", { 77, 41 }, { alive = B } }, { "cell", { 40, 9, 31 }, { alive = B } },
    { "star2d1r", { 1001, 2403 }, { u = R } }, { "onesided1d", { 15001 }, { u = R, k = R } },
    { "poisson", { 33, 47 }, { f = R }, "mixed" }, { "hotspot", { 61, 53 }, { temperature = R, power = R } },
    { "grayscott", { 41, 37 }, { u = R, v = R } },
}
for i, s in ipairs(sims) do
    sims[i] = tz.simulation { plugin = s[1], grid = s[2], fields = s[3], precision = s[4], backend = "cpu", height = 2,
        threads = 1, name = s[1] }
    for name in pairs(s[3]) do sims[i]:every(3, tz.npy(name)) end
end
for _, sim in ipairs(sims) do
    if sim.name == "poisson" then sim:run { until_residual = 0.5, max_steps = 60 } else sim:run(6) end
end
for _, sim in ipairs(sims) do print(sim:hash()) end
END
own="--plugins $(dirname "$bin")/../test-plugins -q"
# shellcheck disable=SC2086 # two words each
{
    t run own.lua $own --out own1
    check 'own cells, alone' is "$rc" 0
    for ranks in 2 3; do
        m $ranks run own.lua $own --out "own$ranks"
        check "own cells, $ranks ranks" is "$rc" 0
        check "own cells, $ranks ranks: the same files" same_files own1 "own$ranks"
        check "own cells, $ranks ranks: nothing is left" is "$(find "own$ranks" -name '.*' -type f | wc -l)" 0
    done
    m 2 run own.lua $own --devices cpu:2 --out own4
    check 'own cells, 2 ranks of 2 slabs: the same files' same_files own1 own4
    hidden="mount -t tmpfs none '$work/hidden' && exec '$bin' run own.lua $own --out hidden/run"
    mkdir hidden
    if unshare -m sh -c "mount -t tmpfs none '$work/hidden'" 2>/dev/null; then
        n "$bin" run own.lua $own --out hidden/run : -n 1 unshare -m sh -c "$hidden"
        check 'a rank that does not see the folder: goes on' is "$rc" 0
        check 'a rank that does not see the folder: told once' errs_once 'so rank 0 writes all files alone'
        check 'a rank that does not see the folder: the same files' same_files own1 hidden/run
    else
        skip 'a rank that does not see the folder' 'no mounts'
    fi
}

# Many stencils: the numbers of the whole grid.
tests="--plugins $(dirname "$bin")/../test-plugins -q"
# shellcheck disable=SC2086 # two words each
t run "$here/ranks.lua" $tests
check 'many stencils alone' is "$rc" 0
numbers=$(cat out)
for ranks in 2 3; do
    m $ranks run "$here/ranks.lua" $tests
    check "many stencils on $ranks ranks" is "$(cat out)" "$numbers"
done
m 2 run "$here/ranks.lua" $tests --devices cpu:2
check 'many stencils on 2 ranks of 2 slabs' is "$(cat out)" "$numbers"

# Whatever differs between processes is rank 0's, or the ranks would not take the same way.
cat >differ.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { dims = 2, fields = { u = "real" }, update = { u = "u + 0.1*lap(u)" } }
local sim = tz.simulation { plugin = heat, grid = { 48, 32 }, fields = { u = tz.random { seed = 1 } },
    backend = "cpu", policy = tz.args.policy }
local order = ""
for name in pairs { alpha = 1, beta = 2, gamma = 3, delta = 4, eps = 5, zeta = 6 } do order = order .. name end
local first = next { alpha = 1, beta = 2, gamma = 3, delta = 4, eps = 5, zeta = 6 }
local r = sim:run(64)
local p = tz.predict { plugin = "hotspot", grid = { 256, 256 }, device = "gtx280", model = "meng2009" }
local ok, tune = pcall(tz.tune, { plugin = "hotspot", grid = { 64, 64 }, backend = "cpu", height = 1 })
print(order, first)
-- Every branch is collective, so ranks that disagree hang or fail.
local function ask(bit) if bit % 2 < 1 then sim:run(3) else sim:max("u") sim:run(2) end end
for _, number in ipairs { math.random(1 << 30), math.floor(r.seconds * 1e9), os.time(), math.floor(os.clock() * 1e6),
    math.floor(sim.seconds * 1e9), collectgarbage("count"), math.floor(p.seconds * 1e9), sim.threads,
    ok and math.floor(tune.best.measured_s * 1e12) or #tune } do
    ask(number)
end
math.randomseed()
ask(math.random(1 << 30))
END
t run differ.lua --out pairs
for policy in predicted exhaustive adaptive meng; do
    m 3 run differ.lua --set policy=$policy --out "differ-$policy"
    check "$policy: ranks take the same way" is "$rc" 0
done
check 'pairs() is in order' says 'alphabetadeltaepsgammazeta	alpha'

# ---- Refused at the start
printf 'print(1)\n' >one.lua
printf 'print(2)\n' >two.lua
n "$bin" run one.lua : -n 1 "$bin" run two.lua
check 'another script is refused' fails
check 'another script: says so' errs_once 'trapeze: rank 1 on '
check 'another script: names it' errs 'the script differs: here it is two,'
check 'another script: prints nothing' is "$(cat out)" ''
n "$bin" run one.lua --set a=1 : -n 1 "$bin" run one.lua --set a=2
check 'another --set is refused' errs_once 'the option --set differs: here it is a=2, on rank 0 a=1;'
n "$bin" run one.lua --set a=1 : -n 1 "$bin" run one.lua
check 'a missing --set is refused' errs_once 'where rank 0 has the option --set; all ranks need the same'
n "$bin" run one.lua --height 2 : -n 1 "$bin" run one.lua --height 3
check 'another option is refused' errs_once 'the options differs'
mkdir plugins
cp "$(dirname "$bin")/../plugins/life.so" plugins/life2.so
n "$bin" run one.lua : -n 1 "$bin" run one.lua --plugins plugins
check 'another plugin is refused' errs_once 'plugin life2.so'
m 2 run one.lua --hieght 3
check 'wrong use is told once' errs_once 'unknown option --hieght'
check 'wrong use: exit code' is "$rc" 2
m 2 run nothing.lua
check 'a missing script is told once' errs_once 'nothing.lua'
m 2 plugins life
check 'other commands run once' once 'life 1.0.0'
m 2 run one.lua --unsafe
check 'no --unsafe of several ranks' errs_once '--unsafe: not under mpirun'
printf 'print(next { [print] = 1, a = 2 })\n' >keys.lua
m 2 run keys.lua
check 'no order of other keys' errs_once 'under mpirun pairs() takes'

# Without the module, and with another MPI's mpirun.
mkdir -p bare/bin && cp "$bin" bare/bin/trapeze
timeout 120 mpirun -n 2 bare/bin/trapeze run one.lua >out 2>err
rc=$?
check 'no module: fails' fails
check 'no module: says so once' errs_once 'this Trapeze was built without MPI: install the package trapeze-mpi, or install libopenmpi-dev'
check 'no module: runs nothing' is "$(cat out)" ''
timeout 120 mpirun -n 1 bare/bin/trapeze run one.lua >out 2>err
rc=$?
check 'one rank needs no module' is "$rc $(cat out)" '0 1'
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 "$bin" run one.lua >out 2>err
rc=$?
check 'another mpirun: fails' fails
check 'another mpirun: says so' errs 'mpirun started 4 ranks, and the MPI that Trapeze was built with sees 1'

# ---- Failures
printf 'local tz = require "trapeze"\ntz.log("begun")\nlocal function deep() error("too bad") end\ndeep()\n' >fail.lua
m 3 run fail.lua
check 'an error of the script: exit code' is "$rc" 1
check 'an error of the script is told once' errs_once 'fail.lua:3: too bad'
cat >disk.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 64 }, backend = "cpu" }
sim:run(1)
local a = sim:array()
a:save("once.npy")
local ok, message = pcall(a.save, a, "nowhere/once.npy")
sim:run(1)
print(ok, message)
error("the end")
END
m 2 run disk.lua --out disk
check 'a failed run: exit code' is "$rc" 1
check 'a failed run: the record says so' grep -q '"status": "failed"' disk/run.json
check 'a caught error is the same for all' once 'names another folder'
# Memory is short on one rank only: what the ranks can agree on is an error of the script, at once.
cat >memory.lua <<'END'
local tz = require "trapeze"
local made, why = pcall(tz.simulation, { plugin = "star2d1r", grid = { 16000, 16000 }, backend = "cpu", threads = 1 })
local sim = tz.simulation { plugin = "star2d1r", grid = { 4000, 4000 }, backend = "cpu", threads = 1, height = 4 }
local arrays = {}
local ok, message = pcall(function() for i = 1, 12 do arrays[i] = sim:array() end end)
sim:run(4)
print(why, message)
END
t doctor --verbose
if says 'address sanitizer'; then
    skip 'memory is short on one rank' 'code with checks or without optimisation'
else
    limited="ulimit -v 900000; exec '$bin' run memory.lua"
    n "$bin" run memory.lua : -n 1 sh -c "$limited"
    check 'memory is short on one rank: the script goes on' is "$rc" 0
    check 'memory is short on one rank: which' grep -qE 'rank 1 on .* GiB are available.*rank 1 on .* does not fit in memory' out
fi

cat >long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 64 }, backend = "cpu", fields = { power = 1e-4 } }
sim:every(1000, tz.table { "step" })
sim:run(tonumber(tz.args.steps) or 1000000000)
-- The run folder is removed: rank 0 alone can tell.
local ok, message
repeat
    sim:run(1)
    ok, message = pcall(sim.write, sim, tz.npy { name = "after" .. sim.step })
until not ok
sim:run(3)
print(message)
END
# begin NAME: starts two ranks of long.lua in the background and waits until they compute. A signal to $job reaches
# mpirun once: without --foreground it reaches its process group too, and after two of them mpirun kills at once.
begin() {
    timeout --foreground 120 mpirun -n 2 "$bin" run long.lua --set steps="${2:-}" --out "$1" >out 2>err </dev/null &
    job=$!
    tries=0
    while [ ! -s "$1/table.csv" ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    workers=$(pgrep -f -- "run long.lua .* --out $1\$" | while read -r pid; do
        grep -qz '^OMPI_COMM_WORLD_RANK=\|^PMI_RANK=' "/proc/$pid/environ" 2>/dev/null && echo "$pid"
    done)
}
begin term
for pid in $workers; do kill -TERM "$pid"; break; done
wait $job
rc=$?
check 'SIGTERM to one rank ends all' is "$rc" 143
check 'SIGTERM: the record says so' grep -q '"status": "interrupted"' term/run.json
check 'SIGTERM: told once' errs_once 'long.lua:4: interrupted'
export OMPI_MCA_odls_base_sigkill_timeout=4 # a busy machine takes longer than a second; mpirun sleeps twice as long
begin int
kill -INT $job
wait $job
unset OMPI_MCA_odls_base_sigkill_timeout
check 'Ctrl-C to mpirun: the record says so' grep -q '"status": "interrupted"' int/run.json
begin killed
for pid in $workers; do last=$pid; done
kill -KILL "$last"
wait $job
rc=$?
check 'a killed rank ends all' fails
check 'a killed rank leaves its record' grep -q '"status": "running"' killed/run.json

# A killed run goes on, on another number of ranks too.
t run "$here/resume/all.lua" --out whole --backend cpu
timeout 120 mpirun -n 2 "$bin" run "$here/resume/all.lua" --out parts --backend cpu >out 2>err </dev/null &
job=$!
tries=0
while [ ! -e parts/round1.npy ] && [ $tries -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
for pid in $(pgrep -f -- "all.lua --out parts"); do
    grep -qz '^OMPI_COMM_WORLD_RANK=1\|^PMI_RANK=1' "/proc/$pid/environ" 2>/dev/null && kill -KILL "$pid"
done
wait $job
rc=$?
check 'a rank is killed' fails
cp -r parts other
m 3 resume parts
check 'a killed run goes on with 3 ranks' is "$rc" 0
check 'with 3 ranks: the same files' same_files whole parts
m 2 resume parts
check 'a run that is done: told once' errs_once 'the run is done'
m 2 resume nowhere
check 'a folder that is not there: told once' errs_once 'nowhere: '
m 2 resume other --out x
check 'resume takes no --out: told once' errs_once 'takes no --out'
t resume other
check 'a killed run goes on alone' is "$rc" 0
check 'alone: the same files' same_files whole other

begin folder 1000
mv folder moved
wait $job
rc=$?
check 'a rank cannot write: an error of all ranks' is "$rc" 1
check 'a rank cannot write: which' grep -qE 'rank [01] on .*cannot ' out

t doctor --verbose
check 'doctor names MPI' says '(MPI '
finish
