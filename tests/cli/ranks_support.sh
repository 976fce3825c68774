# Sourced by the tests of several ranks, as support.sh; ends the script where they cannot run.
. "$here/support.sh"
if ! command -v mpirun >/dev/null 2>&1; then
    skip 'runs of several ranks' 'no mpirun'
    finish
fi
t doctor --verbose
if says 'built without MPI'; then
    skip 'runs of several ranks' 'built without MPI'
    finish
fi
# More ranks than cores, which must not spin, as root, in a container; leaks of MPI are no matter here.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0

# m COUNT ARGUMENT…: runs that many ranks.
m() {
    ranks=$1
    shift
    timeout 900 mpirun -n "$ranks" "$bin" "$@" >out 2>err </dev/null
    rc=$?
}
n() { # n RANK-0-ARGUMENTS : RANK-1-ARGUMENTS, each with the program
    timeout 900 mpirun -n 1 "$@" >out 2>err </dev/null
    rc=$?
}
once() { [ "$(grep -cF -- "$1" out)" -eq 1 ]; }
errs_once() { [ "$(grep -cF -- "$1" err)" -eq 1 ]; }
fails() { [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ]; }
same_files() { # same_files DIR DIR: but for times, which checkpoints have
    diff -rq -x run.json -x log.txt -x checkpoint "$1" "$2" >diffs || { cat diffs; return 1; }
}
