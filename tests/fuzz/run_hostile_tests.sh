#!/bin/sh
# Runs the scripts of hostile/, which do what nobody should: run_hostile_tests.sh TRAPEZE [NAME…]
#
# The first line of a script says how it must end, with limits on time and memory:
#   -- ok              it runs to its end
#   -- refused: TEXT   exit code 1 and a message that holds TEXT
#   -- memory: TEXT    the same, when it has taken all the memory that it is given
#   -- stopped         it never ends, and SIGTERM ends it, sent once
# Each is run and, if it uses the library, checked with --check. Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/support.sh"
shift
marks='^-- (ok|refused|memory|stopped)'
[ $# -gt 0 ] || set -- $(cd "$here/hostile" && grep -lE "$marks" ./*.lua | sed 's/^\.\///; s/\.lua$//')
cp "$here"/hostile/*.lua "$here"/../scenario/plan.flp "$here"/../scenario/plan.ptrace "$here"/../predict/cpu.txt .

# Address space cannot be limited under the address sanitizer; it refuses large requests instead.
if grep -q __asan_init "$bin"; then
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:max_allocation_size_mb=256"
    limited() { "$@"; }
else
    limited() { (ulimit -v 1000000; exec "$@"); }
fi

for file in $(grep -LE "$marks" ./*.lua); do
    name=$(basename "$file" .lua)
    check "$name, which says nothing, is required by others" grep -qF "require \"$name\"" ./*.lua
done

# A sanitizer's report, or an end by a signal.
broken() { [ $rc -gt 123 ] || grep -qE 'ERROR: .*Sanitizer|runtime error' err; }

record_ended() { ! grep -qs '"status": "running"' "$1/run.json"; }

# ends CODE TEXT
ends() { ! broken && [ $rc -eq "$1" ] && { [ -z "$2" ] || grep -qF -- "$2" err; }; }

for script; do
    line=$(head -1 "$script.lua")
    for mode in --out=run --check; do
        [ "$line" != '-- stopped' ] || continue
        [ $mode != --check ] || grep -q '"trapeze"' "$script.lua" || continue
        rm -rf run
        limited timeout -k 5 60 "$bin" run "$script.lua" --quiet $mode >out 2>err </dev/null
        rc=$?
        case $line in
        '-- ok') check "$script $mode" ends 0 "" ;;
        *) check "$script $mode: refused" ends 1 "${line#*: }" ;;
        esac
        check "$script $mode: its record" record_ended run
    done
done

# Those that never end run side by side.
endless=$(for script; do [ "$(head -1 "$script.lua")" != '-- stopped' ] || echo "$script"; done)
for script in $endless; do
    "$bin" run "$script.lua" --out "stopped-$script" >"$script.out" 2>"$script.err" </dev/null &
    echo $! >"$script.pid"
done
pids() { for script in $endless; do cat "$script.pid"; done; }
sleep 1
# shellcheck disable=SC2046 # a list of processes
[ -z "$endless" ] || kill -TERM $(pids) 2>/dev/null
for script in $endless; do
    tries=0
    while kill -0 "$(cat "$script.pid")" 2>/dev/null && [ $tries -lt 120 ]; do
        tries=$((tries + 1))
        sleep 0.5
    done
    kill -9 "$(cat "$script.pid")" 2>/dev/null
    wait "$(cat "$script.pid")"
    rc=$?
    cp "$script.out" out
    cp "$script.err" err
    check "$script is stopped" [ $rc -eq 143 ]
done
finish
