#!/bin/sh
# Tests of runs of several ranks: killed runs that go on: run_ranks_resume_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/ranks_support.sh"

# A killed run goes on, on another number of ranks too.
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

finish
