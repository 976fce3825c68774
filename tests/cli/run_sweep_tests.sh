#!/bin/sh
# Tests of sweeps: run_sweep_tests.sh TRAPEZE
# Which runs there are, what is done again, what is refused, and what the table and the page hold.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

bytes_of() { find "$@" -type f ! -name summary.csv ! -name index.html -exec cksum {} + | sort; }

# A field of ones that is set to power * width; it fails where that is 6.
cat >grid.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local p = tz.sweep { power = { 1, 2.5, 3 }, width = { 2, 4 } }
local note = tz.args.note
local sim = tz.simulation { plugin = "life", grid = { 8, 8 }, fields = { alive = p.power * p.width > 5 and 1 or 0 } }
sim:every(1, tz.table { "step", "population(alive)", product = function() return p.power * p.width end })
sim:write(tz.png("alive"))
if not tz.checking and note ~= "pass" then tz.expect(p.power * p.width ~= 6, "a product, \"six\" </script>") end
sim:run(2)
END_OF_SCRIPT

t sweep grid.lua --check
check "--check" is $rc 0
printf '%s\n' power=1,width=2 power=1,width=4 power=2.5,width=2 power=2.5,width=4 power=3,width=2 power=3,width=4 >wanted
check "--check lists the points in their order" cmp out wanted
check "--check makes no folder" [ ! -e runs ]

t sweep grid.lua --out s --jobs 3
expect "a failed point makes the exit code 1" rc 1 errs "6 points: 5 done, 0 skipped, 1 failed" \
    errs 'power=3,width=2: failed: grid.lua:7: expectation failed: a product, "six" </script>' says "s/index.html"
check "the table has a row for each point" is "$(wc -l <s/summary.csv)" 7
check "the table has the columns" holds s/summary.csv "point,power,width,status,steps,seconds,wall_s,gcells_per_s,plan,population(alive),product,error"
check "the table has a run's parameters and result" grep -qE '^"power=2.5,width=4",2.5,4,done,2,.*,10,$' s/summary.csv
check "the table has the failure" grep -qE '^"power=3,width=2",3,2,failed,.*""six""' s/summary.csv
check "the page is whole" grep -q '^</html>$' s/index.html
check "the page allows no network" holds s/index.html "default-src 'none'; img-src data:"
check "only its own scripts are in the page" occurs s/index.html '</script' 2
check "the page has a picture of each point" occurs s/index.html '"iVBORw0KGgo' 6
for part in DATA STYLE BASICS; do check "@$part@ is filled in" occurs s/index.html "@$part@" 0; done

bytes_of s/power=1* s/power=2* >before
t sweep grid.lua --out s
expect "finished points are skipped" errs "power=1,width=2: skipped: finished" errs "6 points: 0 done, 5 skipped, 1 failed"
bytes_of s/power=1* s/power=2* >after
check "skipped points stay as they are" cmp before after
rm "s/power=1,width=4/run.json"
t sweep grid.lua --out s
check "an unfinished point runs again" errs "power=1,width=4: done"

t sweep grid.lua --out s --set power=1
expect "another sweep's folder is refused" errs "s: holds another sweep: its script, parameters or options differ" rc 1
mkdir other && echo text >other/file
t sweep grid.lua --out other
check "a folder with files is refused" errs "other: has files, but is no folder of a sweep"
check "its file stays" [ "$(cat other/file)" = text ]

t sweep grid.lua --out n --set note=pass --set power=1 --set width=2 -- --backend reference
check "one point, with an option for its run" is $rc 0
check "the run has got the option" holds "n/note=pass,power=1,width=2/run.json" '"backend": "reference"'

# ---- Names --------------------------------------------------------------------------------------------
cat >names.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
tz.sweep { rule = { "B3/S23", "b3/s23", "B3_S23", "../..", ("x"):rep(300) }, flag = { true, false } }
tz.log "ran"
END_OF_SCRIPT
t sweep names.lua
check "names that clash" is $rc 0
check "each point has a folder of its own" is "$(ls -d runs/names-sweep/*/ | wc -l)" 10
check "no folder is elsewhere" [ ! -e "runs/names-sweep/flag=true,rule=" ]

# ---- What is refused ----------------------------------------------------------------------------------
refuse() { # refuse NAME LUA MESSAGE
    printf 'local tz = require "trapeze"\n%s\n' "$2" >bad.lua
    t sweep bad.lua --out bad
    check "refused: $1" errs "$3"
    check "refused: $1: no folder" [ ! -e bad ]
}
refuse "no values" 'tz.sweep { a = {} }' "a: has no values"
refuse "no parameters" 'tz.sweep {}' "tz.sweep: needs NAME = {values}"
refuse "no sweep" 'tz.log "x"' "declares no parameters: call tz.sweep"
refuse "no list" 'tz.sweep { a = 3 }' "'a' must be a list of values, not a number"
refuse "not a number" 'tz.sweep { a = { 1.5, 0/0 } }' "'a' has a value that is not finite"
refuse "equal values" 'tz.sweep { a = { 1, 2, 1 } }' "a: has the value 1 twice"
refuse "types that differ" 'tz.sweep { a = { 1, "x" } }' "the values of 'a' have different types"
refuse "a text that is a number" 'tz.sweep { a = { "1" } }' "write it without quotes"
refuse "a list in a list" 'tz.sweep { a = { { 1 } } }' "must have numbers, texts or booleans, not a table"
refuse "two calls" 'tz.sweep { a = { 1 } } tz.sweep { b = { 1 } }' "the script calls it a second time"
refuse "too many points" 'local v = {} for i = 1, 1000 do v[i] = i end tz.sweep { a = v, b = v }' "more than 10000 points"
refuse "a name that is none" 'tz.sweep { ["a/b"] = { 1 } }' "'a/b' is no name of a parameter"
t sweep grid.lua --out bad --set powr=1,2
expect "an unknown name" errs "--set powr: the script never reads tz.args.powr; did you mean 'power'?" rc 2
t sweep grid.lua --out bad --set power=text
check "a value of another type" errs "'power' is a string, but its list has values such as 1"
for value in '' 1,,2 nan 1,inf; do
    t sweep grid.lua --out bad --set power=$value
    check "--set power=$value is refused" is $rc 2
done
check "nothing was made" [ ! -e bad ]

# ---- Ctrl-C -------------------------------------------------------------------------------------------
cat >long.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local p = tz.sweep { n = { 1, 1000000000 } }
local sim = tz.simulation { plugin = "life", grid = { 8, 8 } }
sim:run(p.n)
END_OF_SCRIPT
"$bin" sweep long.lua --out c >out 2>err &
pid=$!
await [ -e c/n=1000000000 ]
kill -TERM $pid
wait $pid
rc=$?
check "a signal ends a sweep" is $rc 143
check "the finished point stays" holds c/n=1/run.json '"status": "done"'
check "the table is there" is "$(wc -l <c/summary.csv)" 3

# ---- Sweeps that are killed ----------------------------------------------------------------------------
cat >waits.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local p = tz.sweep { v = { 1, 2 } }
local sim = tz.simulation { plugin = "life", grid = { 8, 8 } }
sim:write(tz.npy())
repeat until tz.checking or pcall(tz.read, "go", { shape = { 1 } })
sim:run(p.v)
END_OF_SCRIPT
"$bin" sweep waits.lua --out k --jobs 2 >out 2>err </dev/null &
pid=$!
await sh -c 'ls k/v=1/*.npy k/v=2/*.npy'
kill -KILL $pid
wait $pid 2>/dev/null
killed() { "$bin" info k/v=1 | grep -q "status  *killed" && "$bin" info k/v=2 | grep -q "status  *killed"; }
await killed
check "the runs of a sweep that is killed end with it" killed
rm -r k/v=1
"$bin" run waits.lua --set v=1 --out k/v=1 -q </dev/null >/dev/null 2>&1 &
run=$!
await sh -c 'ls k/v=1/*.npy'
"$bin" sweep waits.lua --out k --jobs 2 >out 2>err </dev/null &
pid=$!
await grep -q "waits for its run" err
check "a sweep waits for a run that still goes on" grep -q 'v=1: waits for its run, which still goes on' err
echo 1 >go
wait $run
wait $pid
rc=$?
expect "and takes what it has done" rc 0 errs "2 points: 1 done, 1 skipped, 0 failed"
rm go
"$bin" sweep waits.lua --out h --jobs 2 >out 2>err </dev/null &
pid=$!
await sh -c 'ls h/v=1/*.npy h/v=2/*.npy'
kill -HUP $pid
wait $pid
rc=$?
check "SIGHUP ends a sweep" is $rc 129
t info h/v=1
check "SIGHUP ends its runs" says "status       killed"

# ---- A sweep, and runs beside each other -----------------------------------------------------------

t info s
expect "info of a sweep" says "s: a sweep of 6 runs" says "power        1, 2.5, 3" says "power=3,width=2: failed"
t report s
expect "report of a sweep" rc 0 says "s/power=3,width=2/report.html" says "s/index.html"
check "its page has links to the reports" [ "$(grep -o '"report":true' s/index.html | wc -l)" -ge 5 ]
t report s --output x.html
check "and no other file" is $rc 2

cat >pair.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 24, 16 }, precision = tz.args.precision, fields = { power = 0.001 },
    params = { ambient_k = tonumber(tz.args.ambient) } }
sim:set("temperature", 330, { x = { 3, 5 }, y = { 7, 8 } })
sim:every(10, tz.table { "step", "max" })
sim:every(10, tz.png())
if tz.args.frames then sim:every(10, tz.npy()) end
sim:run(20)
END_OF_SCRIPT
t run pair.lua --out one -q --checkpoint 1h
t run pair.lua --out again -q --checkpoint 1h
t run pair.lua --out double -q --checkpoint 1h --set precision=double
t run pair.lua --out warm -q --set ambient=320 --set frames=1
t run pair.lua --out cool -q --set ambient=310 --set frames=1
t compare one again
expect "compare equal runs" rc 0 says "nothing" says "temperature: the same at step 20" says "compare.html"
t compare one double --output two.html
expect "compare checkpoints" says "precision: single | double" says "temperature: at step 20 up to " says " of 384 cells"
t compare warm cool --at 10
expect "compare frames" says "ambient_k: 320 | 310" says "temperature: at step 10 up to 0.09955 at cell 3, 6, 0"
t compare one warm
check "nothing in common" says "no frames of a step that both have"
check "the page is whole" grep -q '^</html>$' compare.html
check "the page allows no network" holds compare.html "default-src 'none'; img-src data:"
check "the page has the pictures" [ "$(grep -o 'iVBORw0KGgo' compare.html | wc -l)" -eq 6 ]
for part in DATA STYLE BASICS PLOT; do check "@$part@ is filled in" occurs compare.html "@$part@" 0; done
t compare one
check "one run is too few" is $rc 2
t compare one nowhere
check "no run" errs "nowhere"
finish
