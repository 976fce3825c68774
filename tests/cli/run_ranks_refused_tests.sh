#!/bin/sh
# Tests of runs of several ranks: what is refused at the start: run_ranks_refused_tests.sh TRAPEZE
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

finish
