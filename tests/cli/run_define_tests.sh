#!/bin/sh
# Tests of stencils that scenarios define, as seen from outside: compilers, caches, signals, `trapeze new`, and the
# shipped scenarios: run_define_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
scenarios=$here/../../scripts/stencils
unset CC
images() { ls "$work/cache/stencils" 2>/dev/null | wc -l; }

cat >heat.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { name = tz.args.name or "heat", dims = 2, params = { k = 0.2 },
  update = "u + k*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)" }
local sim = tz.simulation { plugin = heat, grid = { 64, 48 }, policy = tz.args.policy or "predicted", fields = { u = function(x, y) return x == 20 and 1 or 0 end } }
sim:every(10, tz.png("u", { range = { 0, 1 } }))
sim:run(20)
tz.expect(math.abs(sim:sum "u" - 48) < 1e-3)
tz.log(sim:hash())
END

# ---- Caches ------------------------------------------------------------------------------------
t run heat.lua -q --out first
check "a stencil is compiled and runs" is $rc 0
check "it is kept" is "$(images)" 1
check "in a folder of mode 700" is "$(stat -c %a cache/stencils)" 700
check "run.json has its text" grep -q '"definition": ".*TZ_CELL' first/run.json
CC=/nowhere t run heat.lua -q --out interpreted
check "a compiler that is not there: it runs" is $rc 0
check "a compiler that is not there: the line" errs "the formulas of 'heat' are interpreted, up to ten times slower than compiled: CC names a C compiler that is not there, '/nowhere'"
check "a compiler that is not there: one line" lines_err 1
check "a compiler that is not there: the same bits" cmp -s interpreted/u-000020.png first/u-000020.png
CC=/nowhere t run heat.lua -q --backend reference
check "the reference backend asks for no compiler" lines_err 0
t explain first
check "explain knows the stencil" sh -c '! grep -q "unknown plugin" err'
cat >edges.lua <<'END'
local tz = require "trapeze"
local edges = tz.stencil { name = "edges", dims = 2, update = "u + exp(u[-1,0] - u) - exp(u - u[1,0])" }
tz.simulation { plugin = edges, grid = { 8, 8 } }:run(1)
END
t run edges.lua -q --backend reference --out edges
t explain edges
expect "explain: what cells share" rc 0 says "shared   update: 1 function, 3 others a cell, not 2 functions, 4 others"
cat >alloy.lua <<'END'
local tz = require "trapeze"
local alloy = tz.stencil { name = "alloy", dims = 2, fields = { u = "real", mu = { role = "temporary" } },
  passes = { { mu = "u^3 - u - lap(u)" }, { u = "u + 0.01*lap(mu)" } } }
tz.simulation { plugin = alloy, grid = { 8, 8 }, fields = { u = tz.random { seed = 1 } } }:run(1)
END
t run alloy.lua -q --backend reference --out alloy
t explain alloy
expect "explain: temporaries" rc 0 says "temporary mu: 52 others a cell in 1 pass, 16 others in 2"
cat >one.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "lbm", grid = { 8, 8 }, boundary = "periodic", copies = 1 }:run(1)
END
t run one.lua -q --backend reference --out one
t info one
expect "info: one copy" rc 0 says "single, one copy of each field"
t predict heat --from heat.lua --grid 4096,4096 --device "$here/../predict/cpu.txt"
check "predict --from" is $rc 0
t predict --from heat.lua --grid 64,64 --device "$here/../predict/cpu.txt" --set k=0.1 --arg name=hot
expect "predict --from: without a name, --arg" rc 0 says "hot on 64 x 64" lines_err 0
t predict --from heat.lua --grid 64,64 --device "$here/../predict/cpu.txt" --arg nam=hot
expect "predict --from --arg: a name that is not read" rc 0 errs "warning: --arg nam: the script never reads tz.args.nam"
t predict --from heat.lua --arg name --grid 64,64
check "predict --from --arg: no value" errs "--arg needs NAME=VALUE, not 'name'"
t predict heat --stencil heat --grid 64,64
check "predict --stencil alone" errs "--stencil and --arg need --from SCENARIO"
t predict heat --from heat.lua --stencil heat --grid 64,64
check "predict --stencil and a name" errs "takes one stencil, not 'heat' too"
t predict heta --from heat.lua --grid 64,64 --device "$here/../predict/cpu.txt"
check "predict --from: unknown stencil" errs "unknown plugin 'heta'; did you mean 'heat'?"
t predict heat --from nosuch.lua --grid 64,64 --device "$here/../predict/cpu.txt"
check "predict --from: no scenario" errs "nosuch.lua: "
cat >planned.lua <<'LUA'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "star2d1r", grid = { 64, 64 }, policy = "predicted" }
error("its policy is " .. sim:policy().policy)
LUA
t predict heat --from planned.lua --grid 64,64 --device "$here/../predict/cpu.txt"
check "predict --from: simulations of the scenario predict nothing" errs "its policy is fixed"
t plugins --from heat.lua
check "plugins --from: the stencil" says "k"
check "plugins --from: no others" sh -c '! grep -q hotspot out'
t plugins hotspot --from heat.lua
check "plugins --from: another name" is $rc 1
chmod 755 cache/stencils
t run heat.lua -q
check "an open folder: it runs" is $rc 0
check "an open folder: what to do" errs "is open to other users (mode 0755), whose code would be run: remove it, or close it with chmod 700"
t doctor
check "doctor says so" says "NOT usable"
chmod 700 cache/stencils
t doctor --verbose
check "doctor: compiler and headers" grep -q "compiler: cc (" out
check "doctor: headers" grep -q "headers: /" out
: >file
TRAPEZE_CACHE=$work/file/cache t run heat.lua --out warned
check "a cache that cannot be written: it runs" is $rc 0
check "a cache that cannot be written: one warning" is "$(grep -c 'warning: compiled code cannot be kept' err)" 1
if [ "$(id -u)" -ne 0 ]; then
    cp -R cache readonly && rm readonly/stencils/* && chmod 500 readonly/stencils
    TRAPEZE_CACHE=$work/readonly t run heat.lua --out read-only
    check "a read-only cache: it runs" is $rc 0
    chmod 700 readonly/stencils
else
    skip "a read-only cache" "this user may write everywhere"
fi

# ---- Compilers ---------------------------------------------------------------------------------
cat >bad-cc <<'END'
#!/bin/sh
case $* in *--version*) echo "bad cc 1"; exit 0 ;; esac
echo "note: something" >&2
echo "heat.c:1:1: fatal error: all is wrong" >&2
exit 1
END
cat >hanging-cc <<'END'
#!/bin/sh
case $* in *--version*) echo "hanging cc 1"; exit 0 ;; esac
echo $$ >"${0%/*}/hangs"
sleep 1000
END
chmod +x bad-cc hanging-cc
mkdir open && chmod 777 open
TMPDIR=$work/open CC="$work/bad-cc" t run heat.lua -q
check "a TMPDIR that others can change: no compiler in it" errs "open: can be changed by other users (mode 0777), whose code would be run"
check "a TMPDIR that others can change: what to do" errs "or set TMPDIR to a folder of your own"
chmod 1777 open
TMPDIR=$work/open CC="$work/bad-cc" t run heat.lua -q
check "a TMPDIR as /tmp is: the compiler is started" errs "fatal error: all is wrong"
CC="$work/bad-cc -O9" t run heat.lua -q
expect "a compiler that fails" errs "heat.c:1:1: fatal error: all is wrong" lines_err 1
mkdir tmp
TMPDIR="$work/tmp" CC="$work/hanging-cc" "$bin" run heat.lua -q >out 2>err </dev/null &
job=$!
await [ -s hangs ]
kill -INT $job
wait $job
rc=$?
check "a compiler that hangs: Ctrl-C ends both" errs "interrupted"
check "nothing is left of it" sh -c '! ps -eo args | grep -v grep | grep -q "$1"' - "$work/hanging-cc"
check "no temporary folder is left" sh -c '! ls -d tmp/trapeze-??????/heat.c 2>/dev/null | grep -q .'
rm -f hangs
TMPDIR="$work/tmp" CC="$work/hanging-cc" t run heat.lua -q --set policy=auto
check "rows compiled beside the run: it does not wait" is $rc 0
check "rows compiled beside the run: the compiler ends with it" sh -c '! ps -eo args | grep -v grep | grep -q "$1"' - "$work/hanging-cc"
check "rows compiled beside the run: no temporary folder is left" sh -c '! ls -d tmp/trapeze-??????/heat.c 2>/dev/null | grep -q .'
PATH=/nowhere t run heat.lua -q
check "no compiler: names the package" errs "apt-get install gcc"
PATH=/nowhere t doctor
expect "doctor" rc 0 says "missing, optional: a stencil of a scenario needs a C compiler"
cat >raw.lua <<'END'
local tz = require "trapeze"
local raw = tz.stencil { name = "raw", dims = 1, passes = { { name = "half", radius = 1, writes = { "u" } } },
  text = "TZ_CELL(half)\n{\n    TZ_PUT(u, TZ_R(0.5) * (TZ_AT(u, -1) + TZ_AT(u, 1)));\n}\n" }
local sim = tz.simulation { plugin = raw, grid = { 16 }, fields = { u = function(x) return x end } }
sim:run(1)
tz.expect(sim:get("u", 7) == 7)
END
t run raw.lua -q
check "C code is refused" errs "raw.lua:2: tz.stencil: 'text' is C code, which can do anything: run the script with --unsafe"
t run raw.lua -q --unsafe --out raw
check "C code with --unsafe" is $rc 0
PATH=/nowhere t run raw.lua -q --unsafe
check "C code without a compiler" errs "raw.lua:2: tz.stencil: a stencil of a scenario needs a C compiler"

# ---- trapeze new -------------------------------------------------------------------------------
builds() { # builds NAME: the plugin builds
    sh -c "cmake -S $1 -B $1/build -DCMAKE_BUILD_TYPE=Debug && cmake --build $1/build" >out 2>err </dev/null
    rc=$?
    check "new $1: builds unedited" is $rc 0
    check "new $1: no warning" sh -c '! grep -q "warning:" out err'
}
t new plate
expect "new" rc 0 says "ctest --test-dir plate/build"
builds plate
t new plate
expect "new" rc 1 errs "plate: exists already, and is not overwritten"
for name in Plate 3d a-b test int 'a b' '' ../x aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do
    t new "$name"
    check "new '$name' is refused" is $rc 2
done
t new
check "new without a name" errs "new: needs a name"
t new other --stencil x
check "new --stencil alone" errs "--stencil and --set need --from SCENARIO"
t new mine --from heat.lua
check "new --from" is $rc 0
builds mine
TZ_CONTRACT=smoke ctest --test-dir mine/build --output-on-failure >out 2>err </dev/null
rc=$?
expect "new mine: its tests" rc 0 says "contract"
check "new mine: with the contract" grep -q "contract .*Passed" out
check "new mine: draws" sh -c 'ls mine/build/run/*.png >/dev/null'
t run heat.lua --out hash-1
sed '/: [0-9]* steps/,$d' err >hash-defined
t run mine/mine.lua --plugins mine/build --out hash-2
sed '/: [0-9]* steps/,$d' err >hash-plugin
check "the plugin has the bits of the scenario" sh -c "[ -s hash-defined ] && cmp -s hash-defined hash-plugin"
plain_cc plain-cc
CC="$work/plain-cc" t new functions --from "$here/../scenario/stencil_kinds.lua" --stencil functions
check "new --from: a scenario of many stencils" is $rc 0
builds functions
check "a new text reads all cells before it writes" sh -c 'TZ_CONTRACT=smoke "$1" --section descriptor --section fields --section radius --section identity functions/build >out 2>&1' - \
    "$(dirname "$bin")/../test-bin/contract"
cat >two.lua <<'END'
local tz = require "trapeze"
local a = tz.stencil { name = "a", dims = 1, update = "u[-1]" }
local b = tz.stencil { name = "b", dims = 1, update = "u[1]" }
for _, s in ipairs { a, b } do tz.simulation({ plugin = s, grid = { 8 } }):run(1) end
END
for command in predict tune; do
    t $command --from two.lua --grid 64
    expect "$command --from: several stencils" rc 1 errs "two.lua defines 2 stencils: choose with --stencil a, b" lines_err 1
    t $command --from two.lua --stencil c --grid 64
    check "$command --from: not that one" errs "two.lua defines no stencil 'c', but a, b"
done
t predict --from two.lua --stencil b --grid 64 --device "$here/../predict/cpu.txt"
expect "predict --from --stencil" rc 0 says "b on 64, "
mkdir -p parts
echo 'return { k = 0.1 }' >parts/mod.lua
printf '1 2\n3 4\n' >four.txt
cat >reads.lua <<'END'
local tz = require "trapeze"
local m = require "parts.mod"
local s = tz.stencil { name = "spread", dims = 2, params = { k = m.k }, update = "u + k*lap(u)" }
tz.simulation { plugin = s, grid = { 2, 2 }, fields = { u = tz.read("four.txt", { shape = { 2, 2 } }) } }:run(1)
END
t new reads --from reads.lua
check "new --from: what the scenario reads is copied" cmp -s parts/mod.lua reads/parts/mod.lua
check "arrays, too" cmp -s four.txt reads/four.txt
t run --check reads/reads.lua
check "it is found there" errs "unknown plugin 'reads'"
t new third --from two.lua
check "new --from: several stencils" errs "two.lua defines 2 stencils: choose with --stencil a, b"
t new third --from two.lua --stencil c
check "new --from: not that one" errs "two.lua defines no stencil 'c', but a, b"
t new third --from two.lua --stencil b
check "new --from --stencil" is $rc 0
check "new: only that one is replaced" grep -qF 'options.name == "b"' third/third.lua
echo 'local tz = require "trapeze"' >none.lua
t new fourth --from none.lua
check "new --from: none" errs "none.lua defines no stencil with tz.stencil"
t new fourth --from nosuch.lua
check "new --from: no file" errs "nosuch.lua: "
check "nothing is left of those" [ ! -e fourth ]

# ---- The shipped scenarios ---------------------------------------------------------------------
plain_cc quick-cc 1
export CC="$work/quick-cc"
for script in "$scenarios"/*.lua; do
    shipped=$(basename "$script" .lua)
    case $shipped in
    ages) shorter='--set generations=120' ;;
    seismic) shorter='--set steps=100' ;;
    wave) shorter='--set steps=110' ;;
    brusselator | cahn | fluctuations | kuramoto | schnakenberg | swift) shorter='--set steps=500' ;;
    fitzhugh) shorter='--set steps=500' ;;
    noise) shorter='--set n=128' ;;
    front) shorter='--set n=120' ;;
    coral3d) shorter='--set n=32 --set steps=100' ;;
    dipole) shorter='--set n=32 --set checks=no' ;;
    elastic) shorter='--set n=40 --set time=0.1 --set checks=no' ;;
    *) shorter= ;;
    esac
    # shellcheck disable=SC2086 # a list of words
    t run "$script" -q --out "shipped-$shipped" $shorter
    check "$shipped runs" is $rc 0
    check "$shipped draws" sh -c 'ls "$1"/*.png >/dev/null' - "shipped-$shipped"
done

finish
