#!/bin/sh
# Tests of runs of several ranks: what is refused, failures, signals, and killed runs that go on: run_ranks_failures_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/ranks_support.sh"

# ---- Refused at the start
printf 'print(1)\n' >one.lua
m 2 run one.lua --hieght 3
expect "wrong use is told once" errs_once 'unknown option --hieght' rc 2
m 2 run nothing.lua
check 'a missing script is told once' errs_once 'nothing.lua'
m 2 plugins life
check 'other commands run once' once 'life 1.0.0'
m 2 run one.lua --unsafe -q
check '--unsafe is of one process' is "$rc $(cat out)" '0 1'

# Without the module, and with another MPI's mpirun.
mkdir -p bare/bin && cp "$bin" bare/bin/trapeze
timeout 900 mpirun -n 2 bare/bin/trapeze run one.lua >out 2>err
rc=$?
check 'no module: fails' fails
check 'no module: says so once' errs_once 'this Trapeze was built without MPI: install the package trapeze-mpi, or install libopenmpi-dev'
check 'no module: runs nothing' is "$(cat out)" ''
timeout 900 mpirun -n 1 bare/bin/trapeze run one.lua >out 2>err
rc=$?
check 'one rank needs no module' is "$rc $(cat out)" '0 1'
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 "$bin" run one.lua >out 2>err
rc=$?
check 'another mpirun: fails' fails
check 'another mpirun: says so' errs 'mpirun started 4 ranks, and the MPI that Trapeze was built with sees 1'

# ---- Failures
printf 'local tz = require "trapeze"\ntz.log("begun")\nlocal function deep() error("too bad") end\ndeep()\n' >fail.lua
m 3 run fail.lua
expect "an error of the script" rc 1 errs_once 'fail.lua:3: too bad'
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
check 'a caught error: the script goes on' once 'names another folder'
# Memory is short on one rank only: an error of the script.
cat >memory.lua <<'END'
local tz = require "trapeze"
local made, why = pcall(tz.simulation, { plugin = "star2d1r", grid = { 16000, 16000 }, backend = "cpu", threads = 1 })
local sim = tz.simulation { plugin = "star2d1r", grid = { 4000, 4000 }, backend = "cpu", threads = 1, height = 4 }
local a = sim:array() -- rank 0 alone holds it
sim:run(4)
print(why, sim.step)
END
t doctor --verbose
if says 'address sanitizer'; then
    skip 'memory is short on one rank' 'a limit of memory, which the address sanitizer exceeds'
else
    limited="ulimit -v 900000; exec '$bin' run memory.lua"
    n "$bin" run memory.lua : -n 1 sh -c "$limited"
    check 'memory is short on one rank: the script goes on' is "$rc" 0
    check 'memory is short on one rank: which' grep -qE 'rank 1 on .* GiB are available.*4$' out
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
    timeout --foreground 900 mpirun -n 2 "$bin" run long.lua --set steps="${2:-}" --out "$1" >out 2>err </dev/null &
    job=$!
    await [ -s "$1/table.csv" ]
    workers=$(pgrep -f -- "run long.lua .* --out $1\$" | while read -r pid; do
        grep -qz '^OMPI_COMM_WORLD_RANK=\|^PMI_RANK=' "/proc/$pid/environ" 2>/dev/null && echo "$pid"
    done)
}
begin term
for pid in $workers; do last=$pid; done
kill -TERM "$last"
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
check 'a killed rank leaves its record' grep -qE '"status": "(running|interrupted)"' killed/run.json

begin folder 1000
mv folder moved
wait $job
rc=$?
check 'a folder that is gone: an error of the script' is "$rc" 1
check 'a folder that is gone: told' grep -q 'cannot ' out

# ---- Killed runs that go on
# On another number of ranks, too.
t run "$here/resume/all.lua" --out whole --backend cpu
timeout 900 mpirun -n 2 "$bin" run "$here/resume/all.lua" --out parts --backend cpu >out 2>err </dev/null &
job=$!
await [ -e parts/round1.npy ]
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

t doctor --verbose
check 'doctor names MPI' says '(MPI '
finish
