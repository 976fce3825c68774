#!/bin/sh
# Runs the scripts of hostile/, which do what nobody should: run_hostile_tests.sh TRAPEZE [NAME…]
#
# The first line of a script says how it must end, with limits on time and memory:
#   -- ok              it runs to its end
#   -- refused: TEXT   exit code 1 and a message that holds TEXT
#   -- memory: TEXT    the same, when it has taken all the memory that it is given
#   -- stopped         it never ends, and SIGTERM ends it, sent twice
# Each is run, and checked with --check. Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/support.sh"
shift
[ $# -gt 0 ] || set -- $(cd "$here/hostile" && grep -lE '^-- (ok|refused|memory|stopped)' ./*.lua | sed 's/^\.\///; s/\.lua$//')
cd "$work" || exit 1
export TRAPEZE_CACHE="$work/cache" HOME="$work"
cp "$here"/hostile/*.lua .

# Address space cannot be limited under the address sanitizer; it refuses large requests instead.
if grep -q __asan_init "$bin"; then
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:max_allocation_size_mb=256"
    limited() { "$@"; }
else
    limited() { (ulimit -v 2000000; exec "$@"); }
fi

# A sanitizer's report, or an end by a signal.
broken() { [ $rc -gt 123 ] || grep -qE 'Sanitizer|runtime error' err; }

# ends CODE TEXT
ends() { ! broken && [ $rc -eq "$1" ] && { [ -z "$2" ] || grep -qF -- "$2" err; }; }

# The program runs until SIGTERM comes a second time.
run_stopped() {
    "$bin" run "$@" >out 2>err </dev/null &
    pid=$!
    sleep 0.4
    kill -TERM $pid 2>/dev/null
    sleep 0.8
    kill -TERM $pid 2>/dev/null
    n=0
    while kill -0 $pid 2>/dev/null && [ $n -lt 50 ]; do
        sleep 0.1
        n=$((n + 1))
    done
    kill -9 $pid 2>/dev/null
    wait $pid
    rc=$?
}

for script; do
    line=$(head -1 "$script.lua")
    for mode in --out=run --check; do
        rm -rf run
        case $line in
        '-- stopped')
            run_stopped "$script.lua" $mode
            check "$script $mode is stopped" [ $rc -eq 143 ]
            continue
            ;;
        esac
        limited timeout -k 5 60 "$bin" run "$script.lua" --quiet $mode >out 2>err </dev/null
        rc=$?
        case $line in
        '-- ok') check "$script $mode" ends 0 "" ;;
        *) check "$script $mode: refused" ends 1 "${line#*: }" ;;
        esac
        check "$script $mode: its record" [ ! -e run/run.json -o -z "$(grep '"status": "running"' run/run.json 2>&1)" ]
    done
done
finish
