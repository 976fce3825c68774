#!/bin/sh
# Runs that are killed and go on: run_resume_tests.sh TRAPEZE [KILLS [SEED]]
# A run is stopped at random moments, goes on, often on another backend or plan, and is stopped again. In the end
# every byte of its folder is that of a run that was never stopped, but for times.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
kills=${2:-3}
seed=${3:-1}
script=$here/resume/all.lua

draw() { # draw N: a number from 0 to N - 1 in $drawn
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# facts FOLDER [plan]: its run.json without times; with "plan" also without what depends on backend and plan.
facts() {
    awk -v all="${2:-}" '
        all != "" && /^      "(plans|policy|backend|backend_given|threads|bytes)":/ { skip = 1 }
        skip { if ($0 ~ /^      ([]}]|"[a-z_]+": [^[{]*),?$/ || $0 ~ /\[\],$/) skip = 0; next }
        { sub(/"(seconds|gcells_per_s|seconds_per_iteration|began|ended)": [^,]*/, "time"); print }' "$1/run.json"
}

# same FOLDER: every file is that of the run in whole/run. The differences are in ./out.
same() {
    diff -r -q -x run.json -x log.txt -x checkpoint whole/run "$1" >out 2>&1 || return 1
    facts whole/run plan >one
    facts "$1" plan >two
    diff one two >out
}

# stopped FOLDER: it can go on.
stopped() { [ -f "$1/run.json" ] && [ -e "$1/checkpoint/1" ] && ! grep -q '^  "status": "done"' "$1/run.json"; }

# stop_at FILES SIGNAL FOLDER PID: when the folder has so many files, and some milliseconds later. Times alone would do on an
# idle machine only.
stop_at() {
    while kill -0 "$4" 2>/dev/null; do
        set -- "$1" "$2" "$3" "$4" "$3"/*
        [ $# -lt $(($1 + 4)) ] || break
        sleep 0.005
    done
    draw 12
    sleep "0.00$drawn"
    kill -"$2" "$4" 2>/dev/null
    wait "$4" 2>/dev/null
}

mkdir -p whole
(cd whole && "$bin" run "$script" --out run --checkpoint 50ms -q >../out 2>../err </dev/null)
rc=$?
check "a run that is not stopped" is $rc 0
check "it keeps one checkpoint" is "$(ls whole/run/checkpoint | grep -c '^[12]$')" 1
if grep -q '"jump": {' whole/run/run.json; then
    t info whole/run
    check "info tells of jumps" says "jumps        44 of 1320 steps, 1 to a steady state"
fi
files=$(ls whole/run | wc -l)

n=0
resumed=0
while [ $n -lt "$kills" ]; do
    n=$((n + 1))
    mkdir -p "$n"
    signals="KILL KILL TERM INT KILL"
    draw 5
    signal=$(echo $signals | cut -d' ' -f $((drawn + 1)))
    (cd "$n" && exec "$bin" run "$script" --out run --checkpoint 50ms -q >out 2>err </dev/null) &
    draw "$files"
    stop_at $((drawn + 2)) $signal "$n/run" $!
    for options in "--backend reference" "--threads 1 --height 3"; do
        stopped "$n/run" || break
        resumed=$((resumed + 1))
        (exec "$bin" resume "$n/run" $options -q >"$n/out" 2>"$n/err" </dev/null) &
        set -- "$n"/run/*
        draw $((files - $# > 0 ? files - $# : 1))
        stop_at $(($# + drawn)) KILL "$n/run" $!
    done
    if stopped "$n/run"; then
        resumed=$((resumed + 1))
        t resume "$n/run" -q
        check "stopped $n: it goes on to its end" is $rc 0
    elif ! grep -q '^  "status": "done"' "$n/run/run.json" 2>/dev/null; then
        rm -r "$n" # killed before its first checkpoint
        continue
    fi
    [ -e "$n/run/checkpoint" ] && "$bin" resume "$n/run" >/dev/null 2>&1 # killed after its last file
    check "stopped $n by $signal: every byte" same "$n/run"
    rm -rf "$n"
done
check "runs went on ($resumed times)" [ "$resumed" -ge $((kills / 2)) ]

# ---- What is said and refused ----------------------------------------------------------------------

# stop FOLDER [OPTION…]: a run with two checkpoints, which is killed after the second.
stop() {
    folder=$1
    shift
    "$bin" run "$here/resume/steps.lua" --out "$folder" --set go="$work/go" "$@" >out 2>err </dev/null &
    pid=$!
    await grep -q '^two$' err
    t resume "$folder"
    check "a run that still goes on is refused" errs "still goes on"
    t info "$folder"
    check "info: it goes on" says "running"
    kill -9 $pid
    wait $pid 2>/dev/null
}

stop killed --set size=40 --height 3
t info killed
expect "info says that it was killed" says "killed" says "sim1 at step 200" says "trapeze resume killed"
cp -r killed fresh
echo 1 >go
t resume killed --set size=41
expect "other values are refused" errs "--set size=41: the run was begun with other values" rc 2
t resume killed --out other
check "another folder is refused" errs "takes no --out"

restore() { rm -rf killed && cp -r fresh killed; }
echo "-- more" >>killed/scenario.lua
t resume killed
check "another script is refused" errs "not the script that was run"
restore
t resume killed -q
check "a run that was killed goes on" is $rc 0
t info killed
check "with the height of its first command line" says "fixed: height 3"
t resume killed
check "a run that is done is refused" errs "the run is done"
restore
printf 'x' | dd of=killed/checkpoint/2 bs=1 seek=4100 conv=notrunc 2>/dev/null
t resume killed -q
expect "a damaged checkpoint: the other one is taken" rc 0 errs "; the run goes on from checkpoint/1, number 3 of the run"
restore
printf 'xx' | dd of=killed/checkpoint/1 bs=1 seek=2 conv=notrunc 2>/dev/null
t resume killed
check "and so if the newest is damaged" errs "; the run goes on from checkpoint/2, number 2 of the run"
for file in log.txt checkpoint checkpoint/journal table.csv; do
    restore
    cp -r killed/$file outside
    cp -r outside outside-before
    rm -r killed/$file
    ln -s "$work/outside" killed/$file
    t resume killed
    expect "$file is a link" rc 1 errs "link"
    t info killed
    check "$file is a link: what it leads to is as it was" diff -r outside outside-before
    rm -r outside outside-before
done
restore
printf 'x' | dd of=killed/checkpoint/1 bs=1 seek=4100 conv=notrunc 2>/dev/null
printf 'x' | dd of=killed/checkpoint/2 bs=1 seek=4100 conv=notrunc 2>/dev/null
t resume killed
check "both are damaged" errs "the checkpoint is damaged: the checksum of"
restore
printf 'xxxx' | dd of=killed/checkpoint/journal bs=1 seek=40 conv=notrunc 2>/dev/null
t resume killed
check "a damaged journal is refused" errs "journal is damaged"
restore
rm killed/table.csv
t resume killed
check "a missing table is refused" errs "table.csv"
restore
rm killed/temperature-000100.npy
t resume killed -q
expect "a missing frame is told" errs "temperature-000100.npy" rc 0
t resume nowhere
check "no folder" errs "nowhere"
mkdir empty
t resume empty
check "no run" is $rc 1
restore
rm -r killed/checkpoint
t resume killed
check "no checkpoint" errs "begin the run again with trapeze run"
t info killed
check "info: no checkpoint" says "begin it again with trapeze run"

# Scripts that do something else the second time: a file decides it, which only --unsafe can read in the script's place.
t run "$here/resume/unsafe.lua" --unsafe --out unsafe -q
check "what cannot be replayed is told with its line" errs "unsafe.lua:6: the script uses io.open"
echo 1 >value.txt
cp "$here/resume/input.lua" .
"$bin" run input.lua --out input -q >out 2>err </dev/null
check "a run that stops itself" [ -e input/checkpoint/1 ]
echo 2 >value.txt
t resume input
check "a file that has changed is refused" errs "its content has changed"
echo 1 >value.txt
t resume input
check "the same error again" errs "input.lua:8"

# ---- A later end, and other runs with the fields -----------------------------------------------------

same_run() { diff -r -q -x run.json -x log.txt -x checkpoint -x 'end-*' "$1" "$2" >out; }
more=$here/resume/more.lua
t run "$more" --out long-one --set time="2 ms" -q
cp out long-hash
t run "$more" --out more --set time="1 ms" --checkpoint 1h -q
cp -r more kept
t resume more
check "a run that is done is refused with what would go on" errs '--until 5000 (a step) or --until "2 ms"'
t resume more --until "2 ms" -q
expect "it goes on to a later time" rc 0 says "$(cat long-hash)"
check "every byte of it" same_run long-one more
t resume more --until "3 ms" --threads 1 -q
check "and on" is $rc 0
t resume more --until 10
check "not back" errs "is at step 1372 already"
t info kept
expect "info names both ways" says "trapeze resume kept --until" says "trapeze run SCRIPT --from kept"
t run "$more" --from kept --out child --set time="2 ms"
expect "another run begins with its fields" says "$(cat long-hash)" errs "begins with temperature of kept at step 458"
t info child
check "and names it" says "kept at step 458"
t run "$more" --from kept --out wide --set time="2 ms" --set precision=double --set dt=1e-6 -q
check "in another precision and with another time step" says "1457	0.002000875"
t run "$more" --from kept --out frames --at 400 --set time="2 ms" -q
expect "or with frames" rc 0 says "$(cut -c 1-13 long-hash)"
t run "$more" --from long-one --at 3
expect "or not" rc 1 errs "no checkpoint of step 3"
rm -r long-one/*.npy
t run "$more" --from long-one
check "without either the options are named" errs "--checkpoint 10min keeps its last one"
cat >two.lua <<'END'
local tz = require "trapeze"
local a = tz.simulation { plugin = "life", grid = { 64, 8 }, fields = { alive = tz.random { seed = 1, density = 0.5 } } }
a:run(10)
a:set("alive", 1, { x = { 3, 5 }, y = { 2, 3 } })
END
t run two.lua --out life --checkpoint 1h -q
t resume life --until 20
expect "a script that changes its cells at the end" rc 1 errs "changed its simulation" errs "--from"
t run two.lua --out bits --from life -q
check "fields of bits" is $rc 0
t run two.lua --until 20
check "--until is for resume" errs "trapeze resume"

# ---- What a folder of somebody else may do ----------------------------------------------------------

# The checkpoint keeps --unsafe and --plugins: the command line that resumes gives them again, or the run does not go on.
mkdir "more plugins"
cat >foreign.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 64 }, backend = "cpu" }
sim:run(100)
sim:write(tz.checkpoint())
sim:run(100)
os.execute("touch was-run")
error("the end")
END
t run foreign.lua --unsafe --plugins "more plugins" --out foreign
rm -f was-run
cp -r foreign foreign-plugins
t info foreign
expect "info" says "allowed      --unsafe" says "allowed      --plugins more plugins"
t resume foreign -q
check "resume of an --unsafe run: refused" is $rc 1
check "resume of an --unsafe run: the whole command" errs \
    "trapeze resume foreign -q --unsafe --plugins '$work/more plugins'"
check "resume of an --unsafe run: one line" lines_err 1
check "resume of an --unsafe run: nothing was run" [ ! -e was-run ]
t resume foreign -q --unsafe
check "resume with --unsafe alone: still the plugins" errs "begun with --plugins"
check "resume with --unsafe alone: nothing was run" [ ! -e was-run ]
eval "set -- $(sed 's/.*say so: trapeze //' err)"
t "$@"
check "the command that is told: goes on" errs "foreign.lua:7: the end"
check "the command that is told: with its rights" [ -e was-run ]
rm -f was-run
t run foreign.lua --out safe -q
t resume safe --unsafe
check "resume gives a run no less than is asked for" is $rc 1

# ---- Wall time -------------------------------------------------------------------------------------

t run "$here/resume/long.lua" --out long --walltime 2s
expect "--walltime stops the run with exit code 3" rc 3 errs "trapeze resume"
t resume long -q --walltime 1s
check "and again" is $rc 3
t run "$script" --walltime 0s
check "a walltime of nothing" is $rc 2
t run "$script" --checkpoint soon
check "a time that is none" errs "--checkpoint"
finish
