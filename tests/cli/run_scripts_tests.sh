#!/bin/sh
# Tests of the command line: scripts that fail, the sandbox, signals: run_scripts_tests.sh TRAPEZE [BADPLUGINS_DIR]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/command_support.sh"

# ---- scripts that fail -------------------------------------------------------------------------
echo 'local x = = 3' | script syntax.lua
refused "syntax error" 1 "syntax.lua:1: unexpected symbol" run ../syntax.lua
script runtime.lua <<'END'
local function deep(x)
    return x.y.z
end
local function shallow() return (deep({})) end
shallow()
END
t run runtime.lua
expect "run-time error" rc 1 errs "trapeze: runtime.lua:2: attempt to index a nil value" errs "    	runtime.lua:4: in"
check "run-time error: no folder" absent runs/runtime-001
script expect.lua <<'END'
local tz = require "trapeze"
tz.expect(true)
tz.expect(1 == 2, "one is not two")
END
refused "a failed expectation" 1 "expect.lua:3: expectation failed: one is not two" run ../expect.lua
printf 'local tz = require "trapeze"\nlocal function good()\n  tz.expect(false)\nend\ngood()\n' >silent.lua
refused "an expectation without a message" 1 "silent.lua:3: expectation failed: the condition is false" run ../silent.lua
printf 'print(1)\nos.execute "ls"\n' >execute.lua
t run execute.lua
check "os.execute: exit code" is $rc 1
check "os.execute: its line and what opens it" errs "execute.lua:2: os.execute is closed to scenarios, since it can change files or start programs; 'trapeze run --unsafe' opens"
t run execute.lua --unsafe
expect "os.execute --unsafe" rc 0 says execute.lua
script unknown.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, hieght = 3 }
END
refused "an unknown key" 1 "unknown.lua:2: tz.simulation: unknown key 'hieght'; did you mean 'height'?" run ../unknown.lua
script words.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, name = tz.args.words, params = { ambient_k = 318.15 } }
sim:run(3)
END
t run words.lua -q --set 'words=say "1.50" and \ 2.50e3' --out worded
check "run.json: numbers in words stay" grep -qF '"name": "say \"1.50\" and \\ 2.50e3"' worded/run.json
check "run.json: numbers are short" grep -q "318\.15[,}]*$" worded/run.json

script diverge.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 8 }, params = { dt_s = 1, allow_unstable = true },
                            fields = { power = tz.random { seed = 1, range = { 0, 1 } } } }
sim:every(1, tz.table { "step" })
sim:run(1000)
END
t run diverge.lua -q --out diverged
expect "a diverging run" rc 1 errs "field 'temperature' is not finite at cell ("
check "a diverging run: run.json" grep -q '"status": "failed"' diverged/run.json
printf 'nonsense' >bad.npy
printf '1 2 three\n' >bad.txt
printf 'x = 3, y = 1, rule = B3/S23\n9o!\n' >bad.rle
printf 'not a png' >bad.png
for file in bad.npy bad.txt bad.rle bad.png gone.npy; do
    printf 'local tz = require "trapeze"\ntz.read("%s")\n' "$file" | script read.lua
    refused "tz.read of $file" 1 "$file" run ../read.lua
done
printf '1\n2\n3\n' >three.txt
script short.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "hotspot", grid = { 2, 2 }, fields = { power = tz.read "three.txt" } }
END
refused "too few numbers" 1 "three.txt has 3 numbers, the grid needs 2 x 2" run ../short.lua
script empty.lua </dev/null
t run empty.lua
check "an empty script is fine" is $rc 0
printf '#!/usr/bin/env trapeze\nlocal tz = require "trapeze"\nerror("line 3")\n' | script bang.lua
t run bang.lua
check "a first line with #! keeps the numbering" errs "bang.lua:3: line 3"
printf '\033Lua' | script compiled.lua
t run compiled.lua
check "compiled code is refused" is $rc 1

# ---- the sandbox -------------------------------------------------------------------------------
echo 'return { answer = 42 }' | script mymodule.lua
script unsafe.lua <<'END'
local tz = require "trapeze"
assert(require "mymodule".answer == 42)
assert(io.open and os.execute and package.loadlib and debug)
END
t run unsafe.lua
check "without --unsafe: no io" is $rc 1
t run unsafe.lua --unsafe
check "with --unsafe: all libraries" is $rc 0
mkdir -p elsewhere
cp mymodule.lua elsewhere/other.lua
echo 'assert(require "other".answer == 42)' >elsewhere/uses_module.lua
t run elsewhere/uses_module.lua
check "modules are found in the script's folder" is $rc 0

# ---- control characters --------------------------------------------------------------------------
cat >control.lua <<'END'
local tz = require "trapeze"
tz.log("\27[31mred\7", "\x9b1m", "\u{9b}2m")
warn("@on")
warn("\27[31mred", "\0after a zero\7\x9b")
local sim = tz.simulation { plugin = "life", grid = { 8, 8 } }
pcall(function() sim:write(tz.png { name = "\27[31m" }) end)
sim:write(tz.npy())
error("\27[31mred\7\x9b")
END
t run control.lua --out control
expect "control characters" errs "control.lua:8: ?[31mred??" errs "warning: ?[31mred?after a zero??" \
    errs "?[31mred? ?1m ??2m"
# shellcheck disable=SC2016 # a pattern
check "control characters: none on the terminal" sh -c '! LC_ALL=C grep -q "[^[:print:][:space:]]" err'
check "control characters: none in the log" sh -c '! LC_ALL=C grep -q "[^[:print:][:space:]]" control/log.txt'
check "control characters: what is in the log" grep -qF "?[31mred" control/log.txt

# ---- signals -----------------------------------------------------------------------------------
echo 'while true do pcall(function() while true do end end) end' | script loop.lua
after INT '' run loop.lua
expect "an endless loop and SIGINT: 130" rc 130 errs "loop.lua:1: interrupted"
echo 'coroutine.wrap(function() while true do end end)()' | script coloop.lua
after INT '' run coloop.lua
check "an endless coroutine and SIGINT: 130" is $rc 130
script long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 64 }, fields = { power = 1e-4 } }
sim:every(1000, tz.png())
sim:every(10, tz.table { "step", "max(temperature)" })
sim:run { steps = 1000000000 }
END
# What asks for no signal, neither in Lua nor in C, is ended a second later.
echo 'print(#string.find(("a"):rep(50000), (".-"):rep(50) .. "b"))' | script pattern.lua
echo 'table.move({}, 1, 1 << 60, 2)' | script moving.lua
cat >finalizer.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 64 }, backend = "cpu" }
sim:every(10, tz.table { "step" })
sim:run(100)
setmetatable({}, { __gc = function() while true do end end }) collectgarbage()
END
cat >stage.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "star3d1r", grid = { 500, 500, 500 }, backend = "reference" }
sim:every(1, tz.table { "step" })
sim:run(2)
END
after TERM '' run pattern.lua
expect "an endless pattern and SIGTERM" rc 143 errs "trapeze: interrupted"
after INT '' run moving.lua
check "an endless table.move and SIGINT: 130" is $rc 130
after HUP finalizer/table.csv run finalizer.lua --out finalizer
check "an endless finalizer and SIGHUP: 129" is $rc 129
check "an endless finalizer: run.json says interrupted" grep -q '"status": "interrupted"' finalizer/run.json
t info finalizer
check "an endless finalizer: info says so" says "status       interrupted"
after TERM stage/run.json run stage.lua --out stage
check "a long stage and SIGTERM: 143" is $rc 143
check "a long stage: run.json says interrupted" grep -q '"status": "interrupted"' stage/run.json
begin '' run pattern.lua
trap '' HUP
"$bin" run long.lua -q --out nohup >out 2>err </dev/null &
trap - HUP
other=$!
await [ -s nohup/table.csv ]
kill -s HUP $other
sleep 1.5
check "SIGHUP that is ignored, as by nohup: it goes on" kill -0 $other
kill -s TERM $other $pid
wait $other $pid
after KILL killed/one/table.csv run long.lua -q --out killed/one
check "SIGKILL: 137" is $rc 137
check "SIGKILL: run.json says running" grep -q '"status": "running"' killed/one/run.json
mkdir -p killed/two killed/other
for folder in one two other; do echo half >killed/$folder/.x.png.tmp-1-0; done
cp long.lua killed/two/scenario.lua
script first.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 16, 16 } }
sim:every(1, tz.png "temperature")
sim:run(2)
END
t run first.lua --out killed/three
check "the next run sweeps: exit code" is $rc 0
check "the next run sweeps: temporary files of killed runs are gone" sh -c '! ls -A killed/one killed/two | grep -q "^\."'
check "the next run sweeps: other folders are left alone" test -e killed/other/.x.png.tmp-1-0
after TERM term/table.csv run long.lua --out term
check "SIGTERM in a run: 143" is $rc 143
check "SIGTERM: run.json says interrupted" grep -q '"status": "interrupted"' term/run.json
check "SIGTERM: the table is there" sh -c '[ "$(wc -l <term/table.csv)" -gt 2 ]'
check "SIGTERM: the table ends with a line" sh -c 'tail -c 1 term/table.csv | od -c | grep -q "\\\\n"'
check "SIGTERM: no temporary files" sh -c '! ls -A term | grep -q "^\."'
check "SIGTERM: one line of error" sh -c '[ "$(grep -c "^trapeze: long.lua" err)" -eq 1 ]'
after INT int/table.csv run long.lua -q --out int
check "SIGINT in a run: 130" is $rc 130
check "SIGINT: run.json says interrupted" grep -q '"status": "interrupted"' int/run.json
t info int
check "info of an interrupted run" says "status       interrupted"

# ---- The scenarios of docs/how-to.md -----------------------------------------------------------

awk '/^    local tz/ { n++; on = 1 } on && /^    / { sub(/^    /, ""); print >("how-" n ".lua"); next } { on = 0 }' "$here/../../docs/how-to.md"
for file in how-*.lua; do
    t run "$file" -q --out "out-$file"
    check "how to: $(sed -n '2s/.*name = "\([a-z]*\)".*/\1/p' "$file")" is $rc 0
done
check "how to: all of them" is "$(ls how-*.lua | wc -l)" 5
finish
